package loader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
)

func ptr[T any](v T) *T { return &v }

// TestTheEndComesAgain checks that a reader returns the end forever after the last epoch.
func TestTheEndComesAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	l, err := loader.New(loader.Options{Data: []loader.Data{numbers(5)}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 10 {
		b, err := r.Next(t.Context())
		switch {
		case errors.Is(err, io.EOF):
			got = append(got, "end")
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, fmt.Sprint(b.Epoch, ":", b.From))
		}
	}
	if want := "0:0 0:2 0:4 end 1:0 1:2 1:4 end end end"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
	if s := r.State(); s.Epoch != 2 || s.Position != 0 {
		t.Errorf("state %+v", s)
	}
	r.Close()
	r.Close()
}

// TestCloseWhileSomebodyWaits checks that Close ends a waiting Next and leaks nothing.
func TestCloseWhileSomebodyWaits(t *testing.T) {
	defer goleak.VerifyNone(t)
	begun := make(chan struct{})
	var once sync.Once
	data := dataset.Func(4, func(ctx context.Context, i int) (dataset.Sample, error) {
		once.Do(func() { close(begun) })
		<-ctx.Done()
		return dataset.Sample{}, ctx.Err()
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reported := make(chan error)
	go func() {
		_, err := r.Next(t.Context())
		reported <- err
	}()
	<-begun
	r.Close()
	if err := <-reported; !errors.Is(err, loader.ErrClosed) {
		t.Error(err)
	}
}

// TestTooManyRanks checks that a plan that would drop every round is an error, not an
// endless run without batches.
func TestTooManyRanks(t *testing.T) {
	l, err := loader.New(loader.Options{Data: []loader.Data{numbers(5)}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}, LastStep: loader.DropLastStep}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Rank: 1, WorldSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "3 batches for 4 ranks") {
		t.Error(err)
	}
}

func TestReadersThatCannotBeAreRefused(t *testing.T) {
	l, err := loader.New(loader.Options{Data: []loader.Data{numbers(5)}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []loader.ReadOptions{{Rank: 1}, {Rank: -1, WorldSize: 2}, {WorldSize: -1}, {Ahead: -1}, {AheadBytes: -1}, {Epochs: -1}} {
		if _, err := l.Read(t.Context(), o); err == nil {
			t.Errorf("%+v is not refused", o)
		}
	}
	other := loader.State{Seed: 9}
	_, err = l.Read(t.Context(), loader.ReadOptions{From: &other})
	refused := (*loader.StateError)(nil)
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "here there are 5") || !strings.Contains(err.Error(), "its seed is 9 and not 0") {
		t.Error(err)
	}
}

// TestTheEndOfAFileIsNoEndOfAnEpoch checks that an error caused by the end of a file is an
// error, not the end of an epoch.
func TestTheEndOfAFileIsNoEndOfAnEpoch(t *testing.T) {
	defer goleak.VerifyNone(t)
	data := dataset.Func(10, func(_ context.Context, i int) (dataset.Sample, error) {
		if i == 5 {
			var none dataset.Sample
			return none, fmt.Errorf("row 5: %w", io.EOF)
		}
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))}), nil
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for b, err := range r.Batches(t.Context()) {
		if err != nil {
			if errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "row 5: EOF") || n != 2 {
				t.Errorf("after %d batches: %v", n, err)
			}
			return
		}
		n++
		b.Release()
	}
	t.Errorf("the epoch ended after %d batches", n)
}
