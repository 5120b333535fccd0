package inventory_test

import (
	"fmt"
	"testing"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
)

// BenchmarkNodes lists 100 000 records of a disk store by node.
func BenchmarkNodes(b *testing.B) {
	s, err := disk.Open(disk.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range 100_000 {
		op, err := key.NewOp(fmt.Sprint("op", i%10), key.Version("1"), key.Param{Name: "n", Value: i})
		if err != nil {
			b.Fatal(err)
		}
		in := key.Input{Name: "image", Ref: key.Content(key.DigestOf([]byte(fmt.Sprint(i)))), Kind: "jpeg/1"}
		a := op.Action(in)
		if err := s.Put(b.Context(), store.Record{Key: a.Key(), Payload: []byte("value"), Provenance: a.MarshalProvenance()}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		list, err := inventory.Nodes(b.Context(), s, inventory.Selection{})
		if err != nil || len(list) != 10 {
			b.Fatal(list, err)
		}
	}
}
