#include "server/formats/parts/json_value.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr absl::string_view kTooMany = "more than 8388608 values in one file";
static_assert(kMaxJsonValues == 8'388'608);

constexpr std::ptrdiff_t kBytesBetweenChecks = 1 << 16;

// Parser position shared by all copies of the iterator.
struct Reading {
  const char* end = nullptr;
  const char* next_check = nullptr;
  const StopCheck* stop = nullptr;
  std::size_t line = 1;
};

// Iterator that counts lines, and ends the text when the parser must stop.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Reading* reading) : at_(at), reading_(reading) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    reading_->line += *at_ == '\n' ? 1 : 0;
    ++at_;
    if (at_ == reading_->next_check) {
      LookWhetherToStop();
    }
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  void LookWhetherToStop() {
    if (IsStopped(reading_->stop)) {
      at_ = reading_->end;
    }
    reading_->next_check = at_ + std::min(kBytesBetweenChecks, reading_->end - at_);
  }

  const char* at_;
  Reading* reading_;
};

}  // namespace

// SAX handler of the parser; returning false stops it.
class JsonBuilder {
 public:
  explicit JsonBuilder(const std::size_t& line) : line_(line) {}

  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(std::int64_t value) { return AddNumber(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return AddNumber(static_cast<double>(value)); }
  bool number_float(double value, const std::string& /*text*/) { return AddNumber(value); }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return Fail("no JSON"); }
  bool start_object(std::size_t /*size*/) { return Open(JsonValue::Object()); }
  bool key(std::string& name) {
    names_.back() = std::move(name);
    return true;
  }
  bool end_object() { return Close(); }
  bool start_array(std::size_t /*size*/) { return Open(JsonValue::Array()); }
  bool end_array() { return Close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    const absl::string_view text = error.what();
    const std::size_t begin = text.find(": ");
    return Fail(begin == absl::string_view::npos ? text : text.substr(begin + 2));
  }

  const absl::Status& status() const { return status_; }
  JsonValue Take() && { return std::move(root_); }

 private:
  bool Fail(absl::string_view message) {
    status_ = BadLine(line_, absl::CHexEscape(message.substr(0, 200)));
    return false;
  }

  bool AddNumber(double number) {
    if (!open_.empty()) {
      JsonValue& parent = open_.back();
      if (auto* const numbers = std::get_if<JsonValue::Numbers>(&parent.kind_)) {
        numbers->push_back(number);
        return true;
      }
      if (const auto* const array = std::get_if<JsonValue::Array>(&parent.kind_);
          array != nullptr && array->empty()) {
        parent.kind_ = JsonValue::Numbers{number};
        return true;
      }
    }
    return Add(number);
  }

  bool Add(JsonValue::Kind kind) {
    if (++values_ > kMaxJsonValues) {
      return Fail(kTooMany);
    }
    return Attach(JsonValue(std::move(kind), line_));
  }

  bool Open(JsonValue::Kind kind) {
    if (open_.size() == kMaxJsonDepth) {
      return Fail(absl::StrCat("values lie more than ", kMaxJsonDepth, " deep in each other"));
    }
    if (++values_ > kMaxJsonValues) {
      return Fail(kTooMany);
    }
    open_.emplace_back(std::move(kind), line_);
    names_.emplace_back();
    return true;
  }

  bool Close() {
    JsonValue done = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return Attach(std::move(done));
  }

  bool Attach(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    JsonValue& parent = open_.back();
    if (auto* const object = std::get_if<JsonValue::Object>(&parent.kind_)) {
      object->emplace_back(std::move(names_.back()), std::move(value));
      return true;
    }
    if (const auto* const numbers = std::get_if<JsonValue::Numbers>(&parent.kind_)) {
      // The array is not all numbers after all.
      values_ += numbers->size();
      if (values_ > kMaxJsonValues) {
        return Fail(kTooMany);
      }
      JsonValue::Array values;
      for (const double number : *numbers) {
        values.emplace_back(number, parent.line_);
      }
      parent.kind_ = std::move(values);
    }
    std::get_if<JsonValue::Array>(&parent.kind_)->push_back(std::move(value));
    return true;
  }

  const std::size_t& line_;
  JsonValue root_;
  // Stack of unfinished values, and of the pending member name of each.
  std::vector<JsonValue> open_;
  std::vector<std::string> names_;
  std::size_t values_ = 0;
  absl::Status status_;
};

absl::StatusOr<JsonValue> ParseJson(absl::string_view bytes, const StopCheck* stop) {
  Reading reading{.end = bytes.data() + bytes.size(), .stop = stop};
  if (static_cast<std::ptrdiff_t>(bytes.size()) > kBytesBetweenChecks) {
    reading.next_check = bytes.data() + kBytesBetweenChecks;
  }
  JsonBuilder builder(reading.line);
  const CountingIterator begin(bytes.data(), &reading);
  const CountingIterator end(reading.end, &reading);
  if (!nlohmann::json::sax_parse(begin, end, &builder)) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return builder.status().ok() ? BadLine(reading.line, "no JSON") : builder.status();
  }
  return std::move(builder).Take();
}

absl::Status JsonError(const JsonValue& value, absl::string_view message) {
  return BadLine(value.line(), message);
}

std::optional<std::string> JsonValue::Text() const {
  if (string() != nullptr) {
    return *string();
  }
  if (boolean() != nullptr) {
    return *boolean() ? "true" : "false";
  }
  return number() != nullptr ? std::optional(ShortestText(*number())) : std::nullopt;
}

const JsonValue* JsonValue::Find(absl::string_view name) const {
  if (const Object* const members = object()) {
    for (const auto& [key, value] : *members) {
      if (key == name) {
        return &value;
      }
    }
  }
  return nullptr;
}

template <typename T>
const T* JsonValue::FindAs(absl::string_view name) const {
  const JsonValue* const member = Find(name);
  return member == nullptr ? nullptr : std::get_if<T>(&member->kind_);
}

std::optional<double> JsonValue::FindNumber(absl::string_view name) const {
  const auto* const value = FindAs<double>(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<int> JsonValue::FindInteger(absl::string_view name, int least, int most) const {
  const auto* const value = FindAs<double>(name);
  return value != nullptr && *value >= least && *value <= most && *value == std::floor(*value)
             ? std::optional(static_cast<int>(*value))
             : std::nullopt;
}

std::optional<bool> JsonValue::FindBoolean(absl::string_view name) const {
  const auto* const value = FindAs<bool>(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

absl::string_view JsonValue::FindString(absl::string_view name) const {
  const auto* const value = FindAs<std::string>(name);
  return value == nullptr ? absl::string_view() : absl::string_view(*value);
}

const JsonValue::Array& JsonValue::FindArray(absl::string_view name) const {
  static const auto* const kNone = new Array;
  const auto* const value = FindAs<Array>(name);
  return value == nullptr ? *kNone : *value;
}

MemberTables::MemberTables(std::initializer_list<KnownMembers> kinds) {
  for (const KnownMembers& kind : kinds) {
    for (const absl::string_view members : {kind.read, kind.no_bearing}) {
      for (const absl::string_view word : absl::StrSplit(members, ' ', absl::SkipEmpty())) {
        const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, ':');
        absl::string_view inside = parts.second;
        const bool is_list = absl::ConsumePrefix(&inside, "[") && absl::ConsumeSuffix(&inside, "]");
        kinds_[kind.object][parts.first] = {.object = absl::StrReplaceAll(inside, {{"_", " "}}),
                                            .is_list = is_list};
      }
    }
  }
}

absl::Status MemberTables::NoteMembers(absl::string_view object, const JsonValue& value, ImportNotes& notes,
                                       const StopCheck* stop) const {
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  if (value.object() == nullptr) {
    return absl::OkStatus();
  }
  const auto& known = kinds_.find(object)->second;
  for (const auto& [name, member] : *value.object()) {
    const auto entry = known.find(name);
    if (entry == known.end()) {
      notes.Add(absl::StrCat("the member ", Quoted(name), " of \"", object, "\" is not known"),
                absl::StrCat("line ", member.line()));
      continue;
    }
    const auto& [inside, is_list] = entry->second;
    if (!inside.empty() && !is_list) {
      WAYSTAR_RETURN_IF_ERROR(NoteMembers(inside, member, notes, stop));
    } else if (is_list && member.array() != nullptr) {
      for (const JsonValue& element : *member.array()) {
        WAYSTAR_RETURN_IF_ERROR(NoteMembers(inside, element, notes, stop));
      }
    }
  }
  return absl::OkStatus();
}

std::set<std::string> MemberTables::Names() const {
  std::set<std::string> names;
  for (const auto& [object, members] : kinds_) {
    for (const auto& [member, inside] : members) {
      names.insert(absl::StrCat(object, ".", member));
    }
  }
  return names;
}

}  // namespace waystar::core
