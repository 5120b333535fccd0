package store_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// A store holds records under keys, and leases keys to the callers that compute them.
func Example() {
	ctx := context.Background()
	var s store.Store = memory.New(memory.Options{})
	defer s.Close()
	a, err := key.NewAction("shout", key.Version("1"), "hello")
	if err != nil {
		panic(err)
	}
	_, err = s.Get(ctx, a.Key())
	fmt.Println(errors.Is(err, store.ErrNotFound))
	release, err := s.Lease(ctx, a.Key()) // no other process computes it now
	if err != nil {
		panic(err)
	}
	err = s.Put(ctx, store.Record{Key: a.Key(), Payload: []byte("HELLO")})
	release()
	if err != nil {
		panic(err)
	}
	r, err := s.Get(ctx, a.Key())
	fmt.Println(string(r.Payload), err)
	// Output:
	// true
	// HELLO <nil>
}
