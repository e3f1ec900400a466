// Binary encoding of edits and commits.
#pragma once

#include "server/core/codec/value_reader.h"
#include "server/core/codec/value_writer.h"
#include "server/core/edit/edit.h"
#include "server/core/store/durable_log.h"

namespace waystar::storage {

// Readers check only the form. Whether the map accepts an edit is checked when it is applied.

void WriteEdit(const core::Edit& edit, core::ValueWriter& to);
core::Edit ReadEdit(core::ValueReader& from);

void WriteSummary(const core::ChangeSummary& summary, core::ValueWriter& to);
core::ChangeSummary ReadSummary(core::ValueReader& from);

// Fingerprint of the request of an applied batch.
void WriteFingerprint(const core::Fingerprint& fingerprint, core::ValueWriter& to);
core::Fingerprint ReadFingerprint(core::ValueReader& from);

void WriteCommit(const core::LoggedCommit& commit, core::ValueWriter& to);
core::LoggedCommit ReadCommit(core::ValueReader& from);

}  // namespace waystar::storage
