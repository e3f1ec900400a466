using System;
using System.Globalization;
using System.Text;

namespace Waystar {
  /// <summary>A message that can be sent.</summary>
  public interface IMessage {
    void Write(JsonWriter json);
  }

  /// <summary>A request that reads a map as its view says.</summary>
  public interface IQuery : IMessage {
    string Map { get; set; }
    V1.View View { get; set; }
    /// <summary>Returns a copy that shares the values of all fields.</summary>
    IQuery Copy();
  }

  /// <summary>Writes JSON as the gateway reads it. Commas come by themselves.</summary>
  public sealed class JsonWriter {
    readonly StringBuilder text = new StringBuilder();

    public static string Write(IMessage message) {
      var json = new JsonWriter();
      message.Write(json);
      return json.ToString();
    }

    public override string ToString() => text.ToString();

    public void Begin() => Next().Append('{');
    public void End() => text.Append('}');
    public void BeginList(string name) => Key(name).text.Append('[');
    public void EndList() => text.Append(']');

    public JsonWriter Key(string name) {
      Next().Append('"').Append(name).Append("\":");
      return this;
    }

    public void Value(IMessage value) => value.Write(this);
    public void Value(bool value) => Next().Append(value ? "true" : "false");
    public void Value(long value) => Next().Append(value.ToString(CultureInfo.InvariantCulture));
    public void Value(ulong value) => Value(value.ToString(CultureInfo.InvariantCulture));
    public void Value(byte[] value) => Value(Convert.ToBase64String(value));
    public void Value(TimeSpan value) =>
      Value((value.Ticks / 10000000m).ToString(CultureInfo.InvariantCulture) + "s");
    public void Value(DateTime value) => Value(
      value.ToUniversalTime().ToString("yyyy-MM-dd'T'HH:mm:ss.fffffff'Z'", CultureInfo.InvariantCulture));

    public void Value(double value) {
      var digits = value.ToString("R", CultureInfo.InvariantCulture);
      if (double.IsNaN(value) || double.IsInfinity(value)) {
        Value(digits);
        return;
      }
      Next().Append(digits);
    }

    public void Value(string value) {
      Next().Append('"');
      foreach (var c in value) {
        if (c < ' ' || c == '"' || c == '\\') {
          text.Append("\\u").Append(((int)c).ToString("x4"));
        } else {
          text.Append(c);
        }
      }
      text.Append('"');
    }

    // Begins the next value, behind a comma if another one is before it.
    StringBuilder Next() {
      var last = text.Length == 0 ? '{' : text[text.Length - 1];
      return last == '{' || last == '[' || last == ':' ? text : text.Append(',');
    }
  }

  /// <summary>
  /// Reads JSON in the order in which it comes. Anything that is not JSON, or of another type than asked
  /// for, is a FormatException.
  /// </summary>
  public sealed class JsonReader {
    // Short texts that came lately, by their hash: the same few names come over and over.
    static readonly string[] known = new string[1024];

    readonly string text;
    int at;

    public JsonReader(string text) {
      this.text = text;
    }

    /// <summary>
    /// Goes on to the next member of an object. Returns false, behind the object, after the last one.
    /// </summary>
    public bool NextName(out string name) {
      name = null;
      if (!Next('{', '}')) {
        return false;
      }
      name = String();
      Take(':');
      return true;
    }

    /// <summary>Goes on to the next item of a list. Returns false, behind the list, after the last one.</summary>
    public bool NextItem() => Next('[', ']');

    public string String() {
      Take('"');
      var end = text.IndexOf('"', at);
      if (end < 0) {
        throw Problem();
      }
      if (text.IndexOf('\\', at, end - at) < 0) {
        var plain = Part(end);
        at = end + 1;
        return plain;
      }
      var result = new StringBuilder();
      for (; Look() != '"'; ++at) {
        result.Append(text[at] == '\\' ? Escaped() : text[at]);
      }
      ++at;
      return result.ToString();
    }

    public bool Bool() => Token() == "true";
    public double Double() => double.Parse(Token(), NumberStyles.Float, CultureInfo.InvariantCulture);
    public byte[] Bytes() => Convert.FromBase64String(String());
    public TimeSpan Duration() => TimeSpan.FromTicks(
      (long)(decimal.Parse(String().TrimEnd('s'), NumberStyles.Float, CultureInfo.InvariantCulture) * 10000000));
    public DateTime Timestamp() => DateTime.Parse(String(), CultureInfo.InvariantCulture,
      DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal);

    public long Int64() {
      var isQuoted = TryTake('"');
      var isNegative = TryTake('-');
      var value = (long)Digits(isQuoted);
      return isNegative ? -value : value;
    }

    public ulong UInt64() => Digits(TryTake('"'));

    /// <summary>Returns the index of a name, or the number in its place; 0 for an unknown name.</summary>
    public int Enum(string[] names) =>
      Peek() == '"' ? Math.Max(Array.IndexOf(names, String()), 0) : (int)Int64();

    /// <summary>Passes over a value.</summary>
    public void Skip() {
      var depth = 0;
      do {
        var c = Peek();
        if (c != ',' && c != ':' && c != '{' && c != '[' && c != '}' && c != ']') {
          Token();
          continue;
        }
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        ++at;
      } while (depth > 0);
    }

    bool Next(char open, char close) {
      if (TryTake(open)) {
        return !TryTake(close);
      }
      if (TryTake(close)) {
        return false;
      }
      Take(',');
      return true;
    }

    char Look() => at < text.Length ? text[at] : throw Problem();

    char Peek() {
      while (Look() <= ' ') {
        ++at;
      }
      return text[at];
    }

    bool TryTake(char c) {
      var isThere = Peek() == c;
      at += isThere ? 1 : 0;
      return isThere;
    }

    void Take(char c) {
      if (!TryTake(c)) {
        throw Problem();
      }
    }

    string Token() {
      if (Peek() == '"') {
        return String();
      }
      var end = at;
      while (end < text.Length && text[end] > ' ' && text[end] != ',' && text[end] != ']' && text[end] != '}') {
        ++end;
      }
      var token = Part(end);
      at = end;
      return token;
    }

    ulong Digits(bool isQuoted) {
      var start = at;
      ulong value = 0;
      for (; at < text.Length && text[at] >= '0' && text[at] <= '9'; ++at) {
        value = value * 10 + (uint)(text[at] - '0');
      }
      if (at == start || (isQuoted && !TryTake('"'))) {
        throw Problem();
      }
      return value;
    }

    // Returns the text up to `end`, without making it again if it came lately.
    string Part(int end) {
      var length = end - at;
      if (length > 32) {
        return text.Substring(at, length);
      }
      var hash = length;
      for (var i = at; i < end; ++i) {
        hash = hash * 31 + text[i];
      }
      hash &= known.Length - 1;
      var last = known[hash];
      if (last == null || last.Length != length || string.CompareOrdinal(last, 0, text, at, length) != 0) {
        known[hash] = last = text.Substring(at, length);
      }
      return last;
    }

    // Reads what follows a backslash, up to its last character.
    char Escaped() {
      ++at;
      if (Look() != 'u') {
        var index = "bfnrt".IndexOf(text[at]);
        return index < 0 ? text[at] : "\b\f\n\r\t"[index];
      }
      if (at + 4 >= text.Length) {
        throw Problem();
      }
      at += 4;
      return (char)ushort.Parse(text.Substring(at - 3, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
    }

    FormatException Problem() => new FormatException($"no such JSON at {at} of {text.Length} characters");
  }
}
