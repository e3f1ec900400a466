package faults

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

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
