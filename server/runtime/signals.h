// Signals that ask a server to stop.
#pragma once

namespace waystar::runtime {

// Routes SIGTERM and SIGINT to WaitForStop. Call it before any thread starts, since threads inherit the mask.
void BlockStopSignals();

// Returns true if such a signal is pending, so that WaitForStop would return at once; false if
// BlockStopSignals was not called.
bool IsStopAsked();

// Blocks until SIGTERM or SIGINT arrives, and returns its number. A second such signal then ends the process
// at once.
// REQUIRES: BlockStopSignals was called.
int WaitForStop();

}  // namespace waystar::runtime
