package loader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
)

// numbers returns samples of a number each.
func numbers(n int) loader.Data {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))}), nil
	})
}

// Two ranks read a shuffled epoch; after one batch each, the run ends. Three ranks continue
// with the rest from its state.
func Example() {
	ctx := context.Background()
	l, err := loader.New(loader.Options{
		Data: []loader.Data{numbers(14)},
		Plan: loader.PlanOptions{Order: loader.Shuffled, Seed: 7, Batch: loader.BatchOptions{Size: 3}, LastStep: loader.UnevenLastStep},
	})
	if err != nil {
		log.Fatal(err)
	}
	var state *loader.State
	for _, run := range []struct{ ranks, batches int }{{2, 1}, {3, 2}} {
		from := state
		for rank := range run.ranks {
			r, err := l.Read(ctx, loader.ReadOptions{Rank: rank, WorldSize: run.ranks, From: from, Epochs: 1})
			if err != nil {
				log.Fatal(err)
			}
			for range run.batches {
				b, err := r.Next(ctx)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					log.Fatal(err)
				}
				n, err := b.Array("n")
				if err != nil {
					log.Fatal(err)
				}
				values, err := array.Values[int64](*n)
				fmt.Println("rank", rank, "of", run.ranks, "from", b.From, values, err)
				b.Release()
			}
			s := r.State()
			state = &s
			r.Close()
		}
		fmt.Println("epoch", state.Epoch, "position", state.Position)
	}
	// Output:
	// rank 0 of 2 from 0 [2 0 10] <nil>
	// rank 1 of 2 from 3 [4 6 5] <nil>
	// epoch 0 position 6
	// rank 0 of 3 from 6 [8 13 12] <nil>
	// rank 1 of 3 from 9 [1 7 3] <nil>
	// rank 2 of 3 from 12 [9 11] <nil>
	// epoch 1 position 0
}

// Batches hold at most 8 tokens: only the lengths decide their samples.
func ExamplePlan() {
	p, err := loader.NewPlan(loader.PlanOptions{
		Parts: []loader.Part{{Name: "texts", Len: 6, Lengths: []int{3, 4, 5, 2, 1, 8}}},
		Batch: loader.BatchOptions{Tokens: 8},
	})
	if err != nil {
		log.Fatal(err)
	}
	e, err := p.Epoch(0)
	if err != nil {
		log.Fatal(err)
	}
	for k := range e.Batches(0) {
		fmt.Println(e.Content(0, k).Samples)
	}
	// Output:
	// [0 1]
	// [2 3 4]
	// [5]
}
