package disk

import (
	"fmt"
	"os"
	"testing"

	"github.com/larder-data/larder/key"
)

// writes returns how often this process has called the kernel to write.
func writes(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("the kernel does not count calls here: ", err)
	}
	var read, written, readCalls int64
	if _, err := fmt.Sscanf(string(text), "rchar: %d\nwchar: %d\nsyscr: %d\nsyscw: %d", &read, &written, &readCalls, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What one Put or Delete writes of small records goes out in one call.
func TestManyRecordsAreOneWrite(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	mustPut(t, s, similar(0)) // a pack is there
	records := similarFrom(1, 1000)
	before := writes(t)
	putMany(t, s, records)
	if n := writes(t) - before; n > 2 {
		t.Errorf("%d records are %d writes", len(records), n)
	}
	keys := make([]key.Key, len(records))
	for i := range records {
		keys[i] = records[i].Key
	}
	before = writes(t)
	if err := s.Delete(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	if n := writes(t) - before; n > 2 {
		t.Errorf("%d records are deleted by %d writes", len(records), n)
	}
	if n := len(s.kept()); n != 1 {
		t.Errorf("%d records are left", n)
	}
}
