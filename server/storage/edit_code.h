// Commits as bytes.
#pragma once

#include "server/core/edit/edit.h"
#include "server/core/image/value_reader.h"
#include "server/core/image/value_writer.h"
#include "server/core/store/durable_log.h"

namespace waystar::storage {

// What is read has the right form; whoever applies it finds out whether the map can take it.

void WriteEdit(const core::Edit& edit, core::ValueWriter& to);
core::Edit ReadEdit(core::ValueReader& from);

void WriteSummary(const core::ChangeSummary& summary, core::ValueWriter& to);
core::ChangeSummary ReadSummary(core::ValueReader& from);

// The request of a batch that was applied.
void WriteFingerprint(const core::Fingerprint& fingerprint, core::ValueWriter& to);
core::Fingerprint ReadFingerprint(core::ValueReader& from);

void WriteCommit(const core::LoggedCommit& commit, core::ValueWriter& to);
core::LoggedCommit ReadCommit(core::ValueReader& from);

}  // namespace waystar::storage
