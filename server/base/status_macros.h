// Macros that propagate errors from functions that return absl::Status or absl::StatusOr.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function if `expr`, an absl::Status, is not OK.
#define WAYSTAR_RETURN_IF_ERROR(expr)                                 \
  do {                                                                \
    if (absl::Status waystar_status = (expr); !waystar_status.ok()) { \
      return waystar_status;                                          \
    }                                                                 \
  } while (false)

// As above, with `prefix` before the field of the error; needs server/base/error.h.
#define WAYSTAR_RETURN_IF_ERROR_AT(prefix, expr)                             \
  do {                                                                       \
    if (const absl::Status& waystar_status = (expr); !waystar_status.ok()) { \
      return WithFieldPrefix(waystar_status, prefix);                        \
    }                                                                        \
  } while (false)

// Evaluates `expr`, an absl::StatusOr; returns its error from the enclosing function, or assigns its value to
// `lhs`, which may be a declaration.
#define WAYSTAR_ASSIGN_OR_RETURN(lhs, expr) \
  WAYSTAR_ASSIGN_OR_RETURN_IMPL(WAYSTAR_CONCAT(waystar_status_or_, __LINE__), lhs, expr)

#define WAYSTAR_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) {                                    \
    return std::move(result).status();                   \
  }                                                      \
  lhs = *std::move(result)

#define WAYSTAR_CONCAT(a, b) WAYSTAR_CONCAT_IMPL(a, b)
#define WAYSTAR_CONCAT_IMPL(a, b) a##b
