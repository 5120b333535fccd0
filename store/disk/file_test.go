package disk

import (
	"bytes"
	"os"
	"testing"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

var _ store.FileBacked = (*Store)(nil)

// TestFilesOfPayloads checks that a large payload is a whole file that others can read. Parts of it, small payloads and
// other memory are not.
func TestFilesOfPayloads(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	large, small := storetest.Payload(1, 3<<20), storetest.Payload(2, 100)
	mustPut(t, s, store.Record{Key: storetest.Key(1), Payload: large}, store.Record{Key: storetest.Key(2), Payload: small})
	get := func(i int) []byte {
		r, err := s.Get(t.Context(), storetest.Key(i))
		if err != nil {
			t.Fatal(err)
		}
		return r.Payload
	}
	payload := get(1)
	path, ok := s.File(payload)
	if !ok {
		t.Fatal("a payload of 3 MiB is not a file")
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, large) {
		t.Errorf("%s has %d bytes: %v", path, len(b), err)
	}
	for name, b := range map[string][]byte{"a part": payload[64:], "the beginning": payload[:64], "small": get(2), "another's": large, "nothing": nil} {
		if path, ok := s.File(b); ok {
			t.Errorf("%s is %s", name, path)
		}
	}
}
