package inventory_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// A store is listed by operation, and copied to another store.
func Example() {
	ctx := context.Background()
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	for _, word := range []string{"apple", "pear"} {
		a, err := key.NewAction("shout", key.Version("1"), word)
		if err != nil {
			panic(err)
		}
		if _, err := larder.Do(ctx, l, a, func(context.Context) (string, error) { return strings.ToUpper(word), nil }); err != nil {
			panic(err)
		}
	}
	nodes, err := inventory.Nodes(ctx, l.Store(), inventory.Selection{})
	if err != nil {
		panic(err)
	}
	for _, n := range nodes {
		fmt.Println(n.Name, n.Records)
	}
	var stream bytes.Buffer
	if _, err := inventory.Export(ctx, l.Store(), inventory.Selection{}, &stream); err != nil {
		panic(err)
	}
	there := memory.New(memory.Options{})
	imported, err := inventory.Import(ctx, there, &stream)
	fmt.Println(imported.Records, "imported", err)
	// Output:
	// shout 2
	// (operations) 1
	// 3 imported <nil>
}
