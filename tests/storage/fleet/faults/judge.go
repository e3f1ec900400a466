package faults

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	pb "waystar.dev/proto/waystar/v1"
)

// A ledger is all that happened to a map, by its own account: the commits from revision 2 on.
type ledger []commit

// judge compares what clients were told with what the servers have. The fleet is healed, and the
// workload has ended.
func (w *workload) judge() {
	t := w.fleet.t
	t.Helper()
	for _, shared := range append(w.maps, w.quiet) {
		w.judgeMap(shared)
	}
	began := time.Now()
	result := w.history.check(2 * time.Minute)
	if result != porcupine.Ok {
		path := filepath.Join(w.fleet.folder, "history.html")
		w.report("the history is %v, see %s (%v)", result, path, w.history.draw(path))
	}
	t.Logf("%d operations are linearizable: %s (judged in %v)", w.history.size(), result, time.Since(began).Round(time.Millisecond))
	t.Logf("updates: %d acknowledged, %d unknown, %d refused, %d attempts again; reads: %d, glances: %d, failed: %d",
		w.acked.Load(), w.unknown.Load(), w.refused.Load(), w.again.Load(), w.reads.Load(), len(w.glimpses), w.failures.Load())
	for _, wrong := range append(w.wrongs, w.fleet.complaints()...) {
		t.Error(wrong)
	}
}

func (w *workload) judgeMap(shared *sharedMap) {
	f := w.fleet
	f.t.Helper()
	final := w.awaitAgreement(shared)
	var first ledger
	for i := range f.servers {
		read, err := w.readLedger(i, shared, final)
		if errors.Is(err, errResynchronize) {
			f.t.Logf("server %d does not remember all of %s", i, shared.id)
			continue
		}
		if err != nil {
			w.report("the ledger of %s at server %d: %v", shared.id, i, err)
			continue
		}
		if first == nil {
			first = read
		}
		for j := range read {
			if read[j] != first[j] {
				w.report("server %d tells of %+v of %s, and another of %+v", i, read[j], shared.id, first[j])
				break
			}
		}
	}
	if first == nil {
		w.report("no server remembers all of %s", shared.id)
		return
	}
	revisions := make(map[int]uint64)
	for _, made := range first {
		revisions[made.number] = made.revision
	}
	w.history.resolve(shared.id, revisions)
	for _, wrong := range judgeLedger(shared.id, first, w.batches, w.glimpses) {
		w.report("%s", wrong)
	}
}

// judgeLedger returns what of the batches is not in the ledger as it should be: each acknowledged
// one once, with its revision; each that is unknown at most once; and none that was refused.
func judgeLedger(mapID string, all ledger, batches []batch, glimpses []glimpse) []string {
	var wrongs []string
	report := func(format string, arguments ...any) { wrongs = append(wrongs, fmt.Sprintf(format, arguments...)) }
	byNumber := make(map[int]commit)
	for i, made := range all {
		if made.revision != uint64(i)+2 {
			report("revision %d of %s comes where %d should", made.revision, mapID, i+2)
		}
		if before, isDouble := byNumber[made.number]; isDouble {
			report("batch %d was applied twice to %s: as revision %d and as %d", made.number, mapID, before.revision, made.revision)
		}
		byNumber[made.number] = made
	}
	known := make(map[int]bool)
	for _, made := range batches {
		if made.mapID != mapID {
			continue
		}
		known[made.number] = true
		applied, isApplied := byNumber[made.number]
		switch {
		case made.isRefused && isApplied:
			report("batch %d was refused, and applied to %s as revision %d", made.number, mapID, applied.revision)
		case made.revision != 0 && !isApplied:
			report("batch %d was acknowledged as revision %d of %s, and is lost", made.number, made.revision, mapID)
		case made.revision != 0 && applied.revision != made.revision:
			report("batch %d was acknowledged as revision %d of %s, and is %d", made.number, made.revision, mapID, applied.revision)
		case isApplied && applied.cells != made.cells:
			report("batch %d of %s holds %04x instead of %04x", made.number, mapID, applied.cells, made.cells)
		}
	}
	for number := range byNumber {
		if !known[number] {
			report("nobody has sent batch %d of %s", number, mapID)
		}
	}
	for _, seen := range glimpses {
		if seen.mapID != mapID || seen.revision < 2 {
			continue
		}
		if index := seen.revision - 2; index >= uint64(len(all)) {
			report("revision %d of %s was seen, and is not there", seen.revision, mapID)
		} else if all[index].cells != seen.cells {
			report("revision %d of %s was seen as %04x, and is %04x", seen.revision, mapID, seen.cells, all[index].cells)
		}
	}
	return wrongs
}

// awaitAgreement waits until all servers have the same revision of a map, and judges that it is the
// same map. It returns the revision.
func (w *workload) awaitAgreement(shared *sharedMap) uint64 {
	f := w.fleet
	f.t.Helper()
	var infos [size]*pb.MapInfo
	f.await("the same revision of "+shared.id, func() bool {
		for i, s := range f.servers {
			answered, err := attempted(context.Background(), func(ctx context.Context) (*pb.GetMapResponse, error) {
				return s.maps.GetMap(ctx, &pb.GetMapRequest{Map: shared.id})
			})
			if err != nil {
				return false
			}
			infos[i] = answered.Info
		}
		revision := infos[0].Version.Revision
		return infos[1].Version.Revision == revision && infos[2].Version.Revision == revision && revision >= shared.newest.Load()
	})
	for i, info := range infos {
		if info.Digest != infos[0].Digest || info.Version.Epoch != shared.epoch {
			w.report("server %d has %s with digest %x at %v, and server 0 with %x at %v",
				i, shared.id, info.Digest, info.Version, infos[0].Digest, infos[0].Version)
		}
	}
	return infos[0].Version.Revision
}

// readLedger reads the ledger of a map that does not change any more.
func (w *workload) readLedger(number int, shared *sharedMap, final uint64) (ledger, error) {
	all := make(ledger, 0, final)
	if final == 1 {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := follow(ctx, w.fleet.servers[number], shared, 1, func(made commit) bool {
		all = append(all, made)
		return made.revision < final
	})
	return all, err
}

// A state is what the model knows of a map: its revision, and which of its cells are blocked.
type state struct {
	revision uint64
	cells    uint16
}

type question struct {
	mapID string
	// An update sets all cells; a read does not change them.
	isUpdate bool
	cells    uint16
	// Of an update: its batch.
	number int
}

// An answer of a read is what it saw. That of an update is the revision that it made, or 0 if nobody
// knows whether it was applied.
type answer = state

// model is that of a map that a client sees: each update is a revision, and a read tells the latest.
var model = porcupine.Model{
	Partition: partition,
	Init:      func() any { return state{revision: 1} },
	Step: func(before, input, output any) (bool, any) {
		now, asked, told := before.(state), input.(question), output.(answer)
		if !asked.isUpdate {
			return told == now, now
		}
		next := state{now.revision + 1, asked.cells}
		return told.revision == 0 || told.revision == next.revision, next
	},
	DescribeOperation: func(input, output any) string {
		asked, told := input.(question), output.(answer)
		if asked.isUpdate {
			return fmt.Sprintf("%s = %04x -> %d", asked.mapID, asked.cells, told.revision)
		}
		return fmt.Sprintf("%s -> %d: %04x", asked.mapID, told.revision, told.cells)
	},
}

func partition(operations []porcupine.Operation) [][]porcupine.Operation {
	byMap := make(map[string][]porcupine.Operation)
	for _, operation := range operations {
		id := operation.Input.(question).mapID
		byMap[id] = append(byMap[id], operation)
	}
	parts := make([][]porcupine.Operation, 0, len(byMap))
	for _, part := range byMap {
		parts = append(parts, part)
	}
	return parts
}

// A history is what clients asked and were told. Any goroutine may use it.
type history struct {
	began time.Time

	mutex      sync.Mutex
	operations []porcupine.Operation
}

func newHistory() *history { return &history{began: time.Now()} }

// now is to be read before a question is asked, and add to be called after its answer.
func (h *history) now() int64 { return int64(time.Since(h.began)) }

func (h *history) add(client int, asked question, called int64, told answer) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	returned := h.now()
	if asked.isUpdate && told.revision == 0 {
		// It may be applied at any time from then on, or never.
		returned = math.MaxInt64
	}
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: asked, Call: called, Output: told, Return: returned,
	})
}

func (h *history) size() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return len(h.operations)
}

// resolve has updates of a map with unknown outcome be what the map itself tells of them, which may
// leave the check a hundred ways less to try: they are applied with a revision, at any time after they
// were sent, or not at all. If the history can be explained so, it can be without that knowledge too.
func (h *history) resolve(mapID string, revisions map[int]uint64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.operations = slices.DeleteFunc(h.operations, func(operation porcupine.Operation) bool {
		asked := operation.Input.(question)
		return asked.mapID == mapID && operation.Return == math.MaxInt64 && revisions[asked.number] == 0
	})
	for i, operation := range h.operations {
		asked := operation.Input.(question)
		if asked.mapID == mapID && operation.Return == math.MaxInt64 {
			h.operations[i].Output = answer{revision: revisions[asked.number]}
		}
	}
}

// check says whether all of it could have happened one after the other.
func (h *history) check(timeout time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, h.operations, timeout)
}

// draw writes a picture of the history as a page, with how far it could be explained.
func (h *history) draw(path string) error {
	_, info := porcupine.CheckOperationsVerbose(model, h.operations, time.Minute)
	return porcupine.VisualizePath(model, info, path)
}
