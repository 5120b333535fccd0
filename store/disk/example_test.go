package disk_test

import (
	"context"
	"fmt"
	"os"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
)

// Records that one user of a directory puts are found by others: here in sequence, in general by any number of
// concurrent processes.
func Example() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	a, err := key.NewAction("shout", key.Version("1"), "hello")
	if err != nil {
		panic(err)
	}
	for range 2 {
		s, err := disk.Open(disk.Options{Dir: dir, MaxBytes: 1 << 30})
		if err != nil {
			panic(err)
		}
		r, err := s.Get(ctx, a.Key())
		fmt.Printf("%q %v\n", r.Payload, err)
		if err != nil {
			if err := s.Put(ctx, store.Record{Key: a.Key(), Payload: []byte("HELLO")}); err != nil {
				panic(err)
			}
		}
		if err := s.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// "" store: not found
	// "HELLO" <nil>
}
