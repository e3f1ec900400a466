package faults

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A told is an operation of a history that is written down in a test.
type told struct {
	called, returned int64
	isUpdate         bool
	cells            uint16
	revision         uint64
}

func judge(operations ...told) porcupine.CheckResult {
	h := newHistory()
	for i, each := range operations {
		operation := porcupine.Operation{
			ClientId: i, Call: each.called, Return: each.returned,
			Input: question{mapID: "arena", isUpdate: each.isUpdate, cells: each.cells}, Output: answer{each.revision, each.cells},
		}
		h.operations = append(h.operations, operation)
	}
	return h.check(time.Minute)
}

const forever = int64(1) << 62

func TestTheJudgeOfHistories(t *testing.T) {
	for _, test := range []struct {
		name       string
		operations []told
		want       porcupine.CheckResult
	}{
		{"one after the other", []told{{0, 1, true, 5, 2}, {2, 3, false, 5, 2}, {4, 5, true, 6, 3}, {6, 7, false, 6, 3}}, porcupine.Ok},
		{"at once", []told{{0, 9, true, 5, 3}, {0, 9, true, 6, 2}, {10, 11, false, 5, 3}}, porcupine.Ok},
		{"unknown and applied", []told{{0, forever, true, 5, 0}, {2, 3, false, 5, 2}}, porcupine.Ok},
		{"unknown and applied later", []told{{0, forever, true, 5, 0}, {2, 3, false, 0, 1}, {4, 5, false, 5, 2}}, porcupine.Ok},
		{"unknown and never applied", []told{{0, forever, true, 5, 0}, {2, 3, true, 6, 2}, {4, 5, false, 6, 2}}, porcupine.Ok},
		{"lost", []told{{0, 1, true, 5, 2}, {2, 3, false, 0, 1}}, porcupine.Illegal},
		{"lost and overwritten", []told{{0, 1, true, 5, 2}, {2, 3, true, 6, 2}, {4, 5, false, 6, 2}}, porcupine.Illegal},
		{"applied twice", []told{{0, 1, true, 5, 2}, {2, 3, true, 6, 3}, {4, 5, false, 5, 4}}, porcupine.Illegal},
		{"unknown and applied twice", []told{{0, forever, true, 5, 0}, {2, 3, true, 6, 3}, {4, 5, false, 5, 4}}, porcupine.Illegal},
		{"applied before it was asked for", []told{{0, 1, false, 5, 2}, {2, 3, true, 5, 2}}, porcupine.Illegal},
		{"seen and gone", []told{{0, 9, true, 5, 2}, {1, 2, false, 5, 2}, {3, 4, false, 0, 1}}, porcupine.Illegal},
		{"seen wrong", []told{{0, 1, true, 5, 2}, {2, 3, false, 4, 2}}, porcupine.Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := judge(test.operations...); got != test.want {
				t.Errorf("judged %v instead of %v", got, test.want)
			}
		})
	}
}

func TestTheJudgeOfLedgers(t *testing.T) {
	sound := ledger{{revision: 2, number: 1, cells: 5}, {revision: 3, number: 2, cells: 6}}
	acknowledged := batch{mapID: "arena", number: 1, cells: 5, revision: 2}
	unknown := batch{mapID: "arena", number: 2, cells: 6}
	refused := batch{mapID: "arena", number: 2, cells: 6, isRefused: true}
	for _, test := range []struct {
		name    string
		all     ledger
		batches []batch
		seen    []glimpse
		wrongs  int
	}{
		{"sound", sound, []batch{acknowledged, unknown}, []glimpse{{"arena", state{3, 6}}}, 0},
		{"unknown and not applied", sound[:1], []batch{acknowledged, unknown}, nil, 0},
		{"of another map", sound, []batch{acknowledged, unknown, {mapID: "tower", number: 3, revision: 2}}, nil, 0},
		{"lost", ledger{{revision: 2, number: 2, cells: 6}}, []batch{acknowledged, unknown}, nil, 1},
		{"applied twice", append(sound, commit{revision: 4, number: 2, cells: 6}), []batch{acknowledged, unknown}, nil, 1},
		{"another revision", ledger{{revision: 2, number: 2, cells: 6}, {revision: 3, number: 1, cells: 5}}, []batch{acknowledged, unknown}, nil, 1},
		{"refused and applied", sound, []batch{acknowledged, refused}, nil, 1},
		{"sent by nobody", sound, []batch{acknowledged}, nil, 1},
		{"a gap", ledger{{revision: 2, number: 1, cells: 5}, {revision: 4, number: 2, cells: 6}}, []batch{acknowledged, unknown}, nil, 1},
		{"seen wrong", sound, []batch{acknowledged, unknown}, []glimpse{{"arena", state{3, 7}}}, 1},
		{"seen and gone", sound[:1], []batch{acknowledged, unknown}, []glimpse{{"arena", state{3, 6}}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if wrongs := judgeLedger("arena", test.all, test.batches, test.seen); len(wrongs) != test.wrongs {
				t.Errorf("found %q instead of %d", wrongs, test.wrongs)
			}
		})
	}
}
