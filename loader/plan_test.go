package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/order"
)

// anyPlan draws valid options.
func anyPlan(r *rand.Rand) PlanOptions {
	o := PlanOptions{Seed: r.Uint64N(1000), Order: Kind(r.IntN(4)), LastStep: LastStep(r.IntN(3))}
	for k := range 1 + r.IntN(3) {
		part := Part{Name: fmt.Sprint("part", k), Len: 1 + r.IntN(60), Weight: float64(1 + r.IntN(5))}
		for range part.Len {
			part.Lengths = append(part.Lengths, r.IntN(10))
		}
		if r.IntN(3) == 0 {
			part.Only, _ = order.Slice(part.Len, nil, nil, ptr(1+r.IntN(2)))
		}
		o.Parts = append(o.Parts, part)
	}
	switch o.Order {
	case WithReplacement:
		o.Draws = r.IntN(100)
	case Mixed:
		if o.Stop = order.Stop(r.IntN(3)); o.Stop == order.AfterDraws {
			o.Draws = 1 + r.IntN(100)
		}
	}
	b := BatchOptions{Size: 1 + r.IntN(7), LastBatch: LastBatch(r.IntN(3))}
	switch r.IntN(6) {
	case 0:
		b = BatchOptions{Size: r.IntN(7), Tokens: 9 + r.IntN(30), CountPadding: r.IntN(2) == 0, LastBatch: LastBatch(r.IntN(2))}
	case 1:
		b.Buckets = []int{3, 6, 8}
	case 2:
		b.Row, b.Window = 9+r.IntN(20), r.IntN(4)
	case 3:
		b.Row, b.Split = 1+r.IntN(20), true
	}
	o.Batch = b
	return o
}

func ptr[T any](v T) *T { return &v }

// whole returns the batches of an epoch for a single rank, and their states.
func whole(t *testing.T, p *Plan, from State) (all []RankBatch) {
	t.Helper()
	batches, err := p.rankBatches(from, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for turn, ok := batches.take(); ok; turn, ok = batches.take() {
		all = append(all, turn)
	}
	return all
}

// TestRanksShareAnEpoch checks that ranks share the batches of the uninterrupted epoch,
// each once and in order. Their number may change at any batch.
func TestRanksShareAnEpoch(t *testing.T) {
	r := testrand.New(t)
	for round := range testrand.Rounds(600, 20000) {
		o := anyPlan(r)
		p, err := NewPlan(o)
		if err != nil && strings.Contains(err.Error(), "no batch") {
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		epoch := uint64(r.IntN(3))
		if _, err := p.Epoch(epoch); err != nil {
			continue // all is dropped
		}
		want := whole(t, p, p.StartOf(epoch))
		var got []RankBatch
		lost := 0
		for state := p.StartOf(epoch); state.Epoch == epoch; {
			ranks := []int{1, 2, 3, 4, 8}[r.IntN(5)]
			steps := 1 + r.IntN(4)
			readers := make([]*rankBatches, ranks)
			for k := range readers {
				if readers[k], err = p.rankBatches(state, k, ranks); err != nil {
					t.Fatal(err)
				}
			}
			for ; steps > 0 && state.Epoch == epoch; steps-- {
				had := 0
				for _, reader := range readers {
					turn, ok := reader.take()
					if !ok {
						continue
					}
					if had++; had > 1 && turn.After != state {
						t.Fatalf("round %d: ranks of one round have the states %v and %v", round, turn.After, state)
					}
					state = turn.After
					if len(turn.Samples) == 0 || turn.Padding < len(turn.Samples) {
						got = append(got, turn)
					} else if o.LastStep != PadLastStep {
						t.Fatalf("round %d: a batch of padding", round)
					}
				}
				if had == 0 { // the round is dropped
					lost = p.mustEpoch(t, epoch).Batches(state.Position)
					state = p.StartOf(epoch + 1)
				} else if o.LastStep != UnevenLastStep && had != ranks {
					t.Fatalf("round %d: %d of %d ranks have a batch", round, had, ranks)
				}
				if state, err = ParseState(state.String()); err != nil || p.Check(state) != nil && state.Epoch == epoch {
					t.Fatal(err, p.Check(state))
				}
			}
			if o.LastStep == DropLastStep && state.Epoch > epoch {
				lost = len(want) - len(got)
				if lost >= ranks {
					t.Fatalf("round %d: %d batches are dropped for %d ranks", round, lost, ranks)
				}
			}
		}
		if len(got)+lost != len(want) || o.LastStep != DropLastStep && lost > 0 {
			t.Fatalf("round %d: %d batches and %d dropped, of %d\n%+v", round, len(got), lost, len(want), o)
		}
		for i := range got {
			if !reflect.DeepEqual(got[i].Content, want[i].Content) {
				t.Fatalf("round %d: batch %d is %+v, not %+v\n%+v", round, i, got[i].Content, want[i].Content, o)
			}
		}
		checkOnce(t, p, want)
	}
}

func (p *Plan) mustEpoch(t *testing.T, n uint64) *Epoch {
	t.Helper()
	e, err := p.Epoch(n)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkOnce checks that the batches of an epoch keep their bounds and have each drawn
// sample once, and that the draws follow the order.
func checkOnce(t *testing.T, p *Plan, batches []RankBatch) {
	t.Helper()
	b := p.Batch
	drawn := map[int]int{} // tokens, or times
	for _, turn := range batches {
		own := turn.Samples[:len(turn.Samples)-turn.Padding]
		total, longest := 0, 0
		for _, i := range own {
			if !b.Split {
				drawn[i]++
			}
			if p.lengths != nil {
				total, longest = total+p.lengths[i], max(longest, p.lengths[i])
			}
		}
		if b.Row == 0 && b.Size > 0 && len(turn.Samples) > b.Size || b.Tokens > 0 && total > b.Tokens || b.CountPadding && longest*len(own) > b.Tokens {
			t.Fatalf("a batch of %d samples, %d tokens: %+v", len(own), total, b)
		}
		if b.LastBatch == PadLastBatch && (b.Row == 0 && len(turn.Samples) != b.Size || b.Row > 0 && len(turn.Rows) != b.Size) {
			t.Fatalf("a batch of %d samples and %d rows is not filled: %+v", len(turn.Samples), len(turn.Rows), b)
		}
		for _, row := range turn.Rows {
			n := 0
			for _, piece := range row {
				n += piece.To - piece.From
				if b.Split {
					drawn[turn.Samples[piece.Sample]] += piece.To - piece.From
				}
			}
			if n > b.Row {
				t.Fatalf("a row of %d tokens: %+v", n, b)
			}
		}
	}
	if b.LastBatch == DropLastBatch {
		return
	}
	order, err := p.drawn(batches[0].Epoch)
	if err != nil {
		t.Fatal(err)
	}
	for pos := range order.Len() {
		i := order.At(pos)
		if b.Split {
			drawn[i] -= p.lengths[i]
		} else {
			drawn[i]--
		}
	}
	for i, n := range drawn {
		if n != 0 {
			t.Fatalf("%s comes %d times or tokens too often: %+v", p.describe(i), n, b)
		}
	}
}

// TestBatchesOfAnotherSizeGoOn checks that batches counted in samples may change their size
// in the middle of an epoch.
func TestBatchesOfAnotherSizeGoOn(t *testing.T) {
	plan := func(size int) *Plan {
		p, err := NewPlan(PlanOptions{Parts: []Part{{Len: 103}}, Order: Shuffled, Seed: 3, Batch: BatchOptions{Size: size}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var want, got []int
	for _, turn := range whole(t, plan(103), plan(103).Start()) {
		want = append(want, turn.Samples...)
	}
	state := plan(1).Start()
	for _, size := range []int{7, 3, 20, 1, 9} {
		if err := plan(size).Check(state); err != nil {
			t.Fatal(err)
		}
		for _, turn := range whole(t, plan(size), state)[:2] {
			got, state = append(got, turn.Samples...), turn.After
		}
	}
	for _, turn := range whole(t, plan(5), state) {
		got = append(got, turn.Samples...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nand not\n%v", got, want)
	}
}

// TestHugePlansAreResumedAtOnce checks that resuming batches counted in samples needs
// neither time nor memory for earlier samples.
func TestHugePlansAreResumedAtOnce(t *testing.T) {
	const n = 1 << 40
	for _, kind := range []Kind{Sequential, Shuffled, WithReplacement} {
		p, err := NewPlan(PlanOptions{Parts: []Part{{Len: n - 5}, {Len: 5}}, Order: kind, Batch: BatchOptions{Size: 3}})
		if err != nil {
			t.Fatal(err)
		}
		from := p.StartOf(1 << 50)
		from.Position = n / 2
		if err := p.Check(from); err != nil {
			t.Fatal(err)
		}
		batches, err := p.rankBatches(from, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		turn, ok := batches.take()
		if !ok || turn.From != n/2+3 || turn.After.Position != n/2+6 || len(turn.Samples) != 3 {
			t.Errorf("%v: %+v", kind, turn)
		}
		from.Position = n - 4
		if rest := whole(t, p, from); len(rest) != 2 || len(rest[1].Samples) != 1 || rest[1].After != p.StartOf(1<<50+1) {
			t.Errorf("%v: %+v", kind, rest)
		}
	}
}

// TestStatesOfOtherPlansAreRefused checks that the error names each difference.
func TestStatesOfOtherPlansAreRefused(t *testing.T) {
	base := PlanOptions{Parts: []Part{{Name: "a", Len: 20, Identity: "x", Lengths: make([]int, 20), Weight: 1}}, Seed: 1, Order: Shuffled, Batch: BatchOptions{Size: 2, Tokens: 8}}
	p, err := NewPlan(base)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(o *PlanOptions, part *Part)) State {
		o := base
		o.Parts = slices.Clone(base.Parts)
		change(&o, &o.Parts[0])
		q, err := NewPlan(o)
		if err != nil {
			t.Fatal(err)
		}
		return q.Start()
	}
	some, _ := order.Index(20, []int{4, 5})
	for _, c := range []struct {
		differs string
		state   State
	}{
		{"samples", with(func(_ *PlanOptions, part *Part) { part.Len, part.Lengths = 21, make([]int, 21) })},
		{"samples", with(func(_ *PlanOptions, part *Part) { part.Identity = "y" })},
		{"samples", with(func(_ *PlanOptions, part *Part) { part.Only = some })},
		{"samples", with(func(_ *PlanOptions, part *Part) { part.Lengths = make([]int, 20); part.Lengths[3] = 1 })},
		{"order", with(func(o *PlanOptions, _ *Part) { o.Order = Sequential })},
		{"order", with(func(o *PlanOptions, _ *Part) { o.Order = WithReplacement })},
		{"batches", with(func(o *PlanOptions, _ *Part) { o.Batch.Size = 3 })},
		{"batches", with(func(o *PlanOptions, _ *Part) { o.Batch.LastBatch = DropLastBatch })},
		{"seed", with(func(o *PlanOptions, _ *Part) { o.Seed = 2 })},
		{"position", State{Plan: p.print, Seed: 1, Position: 3}},
	} {
		err := p.Check(c.state)
		other := (*StateError)(nil)
		if !errors.As(err, &other) || !slices.Equal(other.Differs, []string{c.differs}) {
			t.Errorf("%s: %v", c.differs, err)
		}
	}
	if err := p.Check(with(func(o *PlanOptions, _ *Part) { o.LastStep = DropLastStep })); err != nil {
		t.Errorf("another last round: %v", err)
	}
}

func TestPlansThatCannotBeAreRefused(t *testing.T) {
	parts := []Part{{Name: "a", Len: 4, Lengths: []int{1, 2, 3, 4}}}
	out, _ := order.Index(9, []int{8})
	for _, c := range []struct {
		says string
		o    PlanOptions
	}{
		{"no parts", PlanOptions{Batch: BatchOptions{Size: 1}}},
		{"no bound", PlanOptions{Parts: parts}},
		{"2 lengths", PlanOptions{Parts: []Part{{Len: 3, Lengths: []int{1, 2}}}, Batch: BatchOptions{Size: 1}}},
		{"there is no sample 8 of 4", PlanOptions{Parts: []Part{{Len: 4, Only: out}}, Batch: BatchOptions{Size: 1}}},
		{"no samples", PlanOptions{Parts: []Part{{}}, Batch: BatchOptions{Size: 1}}},
		{"leave out the number of draws", PlanOptions{Parts: parts, Draws: 3, Batch: BatchOptions{Size: 1}}},
		{"a mixture has no end", PlanOptions{Parts: parts, Order: Mixed, Batch: BatchOptions{Size: 1}}},
		{"need the lengths", PlanOptions{Parts: []Part{{Len: 4}}, Batch: BatchOptions{Tokens: 1}}},
		{"sample 3 of a has length 4, but a batch holds at most 3", PlanOptions{Parts: parts, Batch: BatchOptions{Tokens: 3}}},
		{"but a row holds at most 3", PlanOptions{Parts: parts, Batch: BatchOptions{Size: 1, Row: 3}}},
		{"keep or drop", PlanOptions{Parts: parts, Batch: BatchOptions{Tokens: 9, LastBatch: PadLastBatch}}},
		{"do not ascend", PlanOptions{Parts: parts, Batch: BatchOptions{Size: 1, Buckets: []int{3, 3}}}},
		{"epoch 0 has 4 samples and no batch", PlanOptions{Parts: parts, Batch: BatchOptions{Size: 5, LastBatch: DropLastBatch}}},
	} {
		if _, err := NewPlan(c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q is not said: %v", c.says, err)
		}
	}
}

// TestStateText checks that states survive text and JSON in at most 64 bytes.
func TestStateText(t *testing.T) {
	p, err := NewPlan(PlanOptions{Parts: []Part{{Len: 5}}, Batch: BatchOptions{Size: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []State{{}, p.Start(), {Plan: p.print, Seed: 1<<64 - 1, Epoch: 1<<64 - 1, Position: maxPosition - 1}} {
		if n := len(s.String()); n > 64 {
			t.Errorf("%s has %d bytes", s, n)
		}
		b, err := json.Marshal(map[string]State{"state": s})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]State
		if err := json.Unmarshal(b, &back); err != nil || back["state"] != s {
			t.Errorf("%s: %v %v", b, back, err)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add(State{Seed: 7, Epoch: 1, Position: 900}.String())
	f.Add("1.AAAAAAAAAAAAAAAAAAAA.0.0.00")
	f.Add("2.....")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseState(text)
		if err != nil {
			return
		}
		if s.String() != text || len(text) > 64 {
			t.Errorf("%q is read as %q", text, s)
		}
	})
}
