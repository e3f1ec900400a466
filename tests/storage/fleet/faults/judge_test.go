package faults

import "testing"

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
