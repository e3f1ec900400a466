using System;
using System.Globalization;
using System.Text;
using static System.Globalization.CultureInfo;

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

    /// <summary>Returns the JSON of a message, and "" for null.</summary>
    public static string Write(IMessage message) {
      var json = new JsonWriter();
      message?.Write(json);
      return json.text.ToString();
    }

    public void Begin(char bracket) => Next().Append(bracket);
    public void End(char bracket) => text.Append(bracket);

    public JsonWriter Key(string name) {
      Next().Append('"').Append(name).Append("\":");
      return this;
    }

    public void Value(IMessage value) => value.Write(this);
    public void Value(bool value) => Next().Append(value ? "true" : "false");
    public void Value(long value) => Next().Append(value.ToString(InvariantCulture));
    public void Value(ulong value) => Value(value.ToString(InvariantCulture));
    public void Value(byte[] value) => Value(Convert.ToBase64String(value));
    public void Value(TimeSpan value) => Value((value.Ticks / 10000000m).ToString(InvariantCulture) + "s");
    public void Value(DateTime value) => Value(value.ToUniversalTime().ToString("o", InvariantCulture));

    public void Value(double value) {
      var digits = value.ToString("R", InvariantCulture);
      if (double.IsNaN(value) || double.IsInfinity(value)) {
        Value(digits);
      } else {
        Next().Append(digits);
      }
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
    static readonly char[] ends = " \t\r\n,]}".ToCharArray();
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
      name = Next('{', '}') ? String() : null;
      return name != null && Take(':');
    }

    /// <summary>Goes on to the next item of a list. Returns false, behind the list, after the last one.</summary>
    public bool NextItem() => Next('[', ']');

    public string String() {
      Take('"');
      var end = text.IndexOf('"', at);
      if (end >= 0 && text.IndexOf('\\', at, end - at) < 0) {
        var plain = Part(end);
        ++at;
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
    public double Double() => double.Parse(Token(), NumberStyles.Float, InvariantCulture);
    public long Int64() => long.TryParse(Token(), NumberStyles.AllowLeadingSign, InvariantCulture, out var value)
      ? value : throw Problem();
    public ulong UInt64() => ulong.TryParse(Token(), NumberStyles.None, InvariantCulture, out var value)
      ? value : throw Problem();
    public byte[] Bytes() => Convert.FromBase64String(String());
    public TimeSpan Duration() => TimeSpan.FromTicks(
      (long)(decimal.Parse(String().TrimEnd('s'), NumberStyles.Float, InvariantCulture) * 10000000));
    public DateTime Timestamp() => DateTime.Parse(String(), InvariantCulture,
      DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal);

    /// <summary>Returns the index of a name, or the number in its place; 0 for an unknown name.</summary>
    public int Enum(string[] names) =>
      Peek() == '"' ? Math.Max(Array.IndexOf(names, String()), 0) : (int)Int64();

    /// <summary>Passes over a value.</summary>
    public void Skip() {
      switch (Peek()) {
        case '{': while (NextName(out _)) { Skip(); } break;
        case '[': while (NextItem()) { Skip(); } break;
        default: Token(); break;
      }
    }

    bool Next(char open, char close) {
      var isFirst = TryTake(open);
      return !TryTake(close) && (isFirst || Take(','));
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

    bool Take(char c) => TryTake(c) ? true : throw Problem();

    // Returns a text, or what stands in its place.
    string Token() {
      if (Peek() == '"') {
        return String();
      }
      var end = text.IndexOfAny(ends, at);
      return Part(end < 0 ? text.Length : end);
    }

    // Returns the text up to `end`, and goes on there. It does not make a short text again if it came lately.
    string Part(int end) {
      var (start, length, hash) = (at, end - at, 0);
      at = end;
      if (length > 32) {
        return text.Substring(start, length);
      }
      for (var i = start; i < end; ++i) {
        hash = (hash * 31 + text[i]) & 1023;
      }
      var last = known[hash];
      if (last?.Length != length || string.CompareOrdinal(last, 0, text, start, length) != 0) {
        known[hash] = last = text.Substring(start, length);
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
      at += 4;
      Look();
      return (char)ushort.Parse(text.Substring(at - 3, 4), NumberStyles.HexNumber, InvariantCulture);
    }

    FormatException Problem() => new FormatException($"no such JSON at {at} of {text.Length} characters");
  }
}
