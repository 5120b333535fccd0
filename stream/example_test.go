package stream_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/larder-data/larder/stream"
)

// A reader stops in the middle of a shuffled stream; another one continues from its state.
func Example() {
	ctx := context.Background()
	words := stream.Of(strings.Fields("the law of the sea and of the land")...)
	upper := stream.Map(words, func(_ context.Context, w string) (string, error) { return strings.ToUpper(w), nil })
	s := stream.Batch(stream.Shuffle(upper, 4, 7), 2, false)

	r, err := s.Open(ctx, stream.State{})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		batch, err := r.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch)
	}
	saved := r.State().String()
	r.Close()

	state, err := stream.ParseState(saved)
	if err != nil {
		log.Fatal(err)
	}
	if r, err = s.Open(ctx, state); err != nil {
		log.Fatal(err)
	}
	for batch, err := range r.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("resumed", batch)
	}
	r.Close()
	// Output:
	// [OF SEA]
	// [THE AND]
	// resumed [LAW OF]
	// resumed [THE LAND]
	// resumed [THE]
}
