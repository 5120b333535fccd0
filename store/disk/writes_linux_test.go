package disk

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/larder-data/larder/key"
)

// writes returns the number of write calls of this process.
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

// TestManyRecordsAreOneWrite checks that one Put or Delete of small records is one call. Other activity of the process,
// such as Go's scheduler, can only add calls, so the minimum of several tries counts.
func TestManyRecordsAreOneWrite(t *testing.T) {
	put, deleted := int64(math.MaxInt64), int64(math.MaxInt64)
	for range 5 {
		s := open(t, Options{Dir: t.TempDir()})
		mustPut(t, s, similar(0)) // the pack exists
		records := similarFrom(1, 1000)
		before := writes(t)
		putMany(t, s, records)
		put = min(put, writes(t)-before)
		keys := make([]key.Key, len(records))
		for i := range records {
			keys[i] = records[i].Key
		}
		before = writes(t)
		if err := s.Delete(t.Context(), keys...); err != nil {
			t.Fatal(err)
		}
		deleted = min(deleted, writes(t)-before)
		if n := len(s.stored()); n != 1 {
			t.Errorf("%d records are left", n)
		}
	}
	if put > 2 || deleted > 2 {
		t.Errorf("1000 records are put by %d writes and deleted by %d", put, deleted)
	}
}
