// Waiting for the signals that ask a server to stop.
#pragma once

namespace waystar::runtime {

// Routes SIGTERM and SIGINT to WaitForStop. Call it before any thread is started: they inherit the mask.
void BlockStopSignals();

// Returns whether such a signal has arrived, for which WaitForStop would not wait. REQUIRES:
// BlockStopSignals was called; else returns false.
bool IsStopAsked();

// Blocks until SIGTERM or SIGINT arrives, and returns its number. A second such signal after this has
// returned ends the process at once. REQUIRES: BlockStopSignals was called.
int WaitForStop();

}  // namespace waystar::runtime
