//go:build linux

package disk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// collectGarbage returns when all unreachable objects have been finalized.
func collectGarbage() {
	for range 3 { // an object with a finalizer takes two
		done := make(chan struct{})
		runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(done) })
		runtime.GC()
		<-done
	}
}

// mappedOf returns the mapped bytes of files below a directory and the number of all mappings, as the kernel reports
// them. The last result is the number of open files below the directory.
func mappedOf(t *testing.T, dir string) (mapped, removed, mappings, open int64) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		mappings++
		if !strings.Contains(line, filepath.Join(dir, vfs.Blobs)) && !strings.Contains(line, filepath.Join(dir, vfs.Trash)) {
			continue
		}
		from, rest, _ := strings.Cut(line, "-")
		to, _, _ := strings.Cut(rest, " ")
		a, aerr := strconv.ParseInt(from, 16, 64)
		b, berr := strconv.ParseInt(to, 16, 64)
		if aerr != nil || berr != nil {
			t.Fatalf("maps has a line %q", line)
		}
		mapped += b - a
		if strings.Contains(line, "(deleted)") {
			removed += b - a
		}
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.HasPrefix(to, dir) {
			open++
		}
	}
	return mapped, removed, mappings, open
}

// TestMappedBytesAreBounded puts and reads many times the limit, and holds some payloads for a while. Mapped bytes,
// removed or not, and open files are bounded, and both are zero at the end.
func TestMappedBytesAreBounded(t *testing.T) {
	const limit, size, stored = 64 << 20, 1 << 20, 8
	o := Options{Dir: t.TempDir(), MaxBytes: limit}
	s := open(t, o)
	_, _, before, _ := mappedOf(t, o.Dir)
	var held, long [stored][]byte
	var maxMapped, maxRemoved, maxMappings, maxOpen, maxHeld, maps int64
	for i := range testrand.Rounds(512<<20, 4<<30) / size {
		payload := storetest.Payload(uint64(i), size)
		mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: payload})
		r, err := s.Get(t.Context(), storetest.Key(i))
		if err != nil || !bytes.Equal(r.Payload, payload) {
			t.Fatalf("record %d: %v", i, err)
		}
		if r.Mapped {
			maps++
		}
		held[i%stored] = r.Payload[100:200:200] // a part keeps all of it
		if i%16 > 0 {
			continue
		}
		long[i/16%stored] = r.Payload[:1] // until long after it was evicted
		mapped, removed, mappings, files := mappedOf(t, o.Dir)
		u, err := s.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		maxMapped, maxRemoved, maxMappings = max(maxMapped, mapped), max(maxRemoved, removed), max(maxMappings, mappings-before)
		maxOpen, maxHeld = max(maxOpen, files), max(maxHeld, u.Bytes)
		for j := max(0, i-stored+1); j <= i; j++ { // held payloads stay unchanged, removed or not
			if !bytes.Equal(held[j%stored], storetest.Payload(uint64(j), size)[100:200]) {
				t.Fatalf("payload %d changed while it was held", j)
			}
		}
	}
	t.Logf("%d payloads were mapped; at most %d MiB at a time, %d MiB of removed files, %d mappings, %d files open, %d MiB held",
		maps, maxMapped>>20, maxRemoved>>20, maxMappings, maxOpen, maxHeld>>20)
	if maps == 0 {
		t.Error("nothing was mapped")
	}
	if maxMapped > limit/4 || maxRemoved > limit/4 {
		t.Errorf("%d bytes were mapped, %d of them of removed files: more than a quarter of the cap", maxMapped, maxRemoved)
	}
	if maxMappings > 200 || maxOpen > 40 {
		t.Errorf("%d mappings and %d open files", maxMappings, maxOpen)
	}
	if maxHeld > limit+limit/4 {
		t.Errorf("%d bytes were held, with those of removed files", maxHeld)
	}
	clear(held[:])
	clear(long[:])
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	collectGarbage()
	mapped, removed, _, files := mappedOf(t, o.Dir)
	if st := s.Stats(); mapped != 0 || removed != 0 || files != 0 || st != (Stats{}) {
		t.Errorf("after Close, %d bytes are mapped, %d of removed files, and %d files open: %+v", mapped, removed, files, st)
	}
}

// TestPayloadLivesAsLongAsItIsHeld checks that a payload outlives its record, file and store while any part of it is
// held, and is released afterwards.
func TestPayloadLivesAsLongAsItIsHeld(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: -1}
	s := open(t, o)
	want := storetest.Payload(1, 3<<20)
	mustPut(t, s, store.Record{Key: storetest.Key(1), Payload: want})
	get := func() []byte {
		r, err := s.Get(t.Context(), storetest.Key(1))
		if err != nil || !r.Mapped {
			t.Fatalf("mapped %v, %v", r.Mapped, err)
		}
		return r.Payload
	}
	part := get()[2<<20:][:1000:1000]
	if again := get(); &again[2<<20] != &part[0] {
		t.Error("a file that is mapped was mapped again")
	}
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	u, err := s.Usage(t.Context())
	if st := s.Stats(); err != nil || st.Removed != 3<<20 || st.Mappings != 1 || u.Bytes < 3<<20 {
		t.Errorf("held and removed: %+v, %d bytes held, %v", st, u.Bytes, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 { // new memory replaces the released memory
		collectGarbage()
		for range 20 {
			clear(make([]byte, 3<<20))
		}
	}
	if !bytes.Equal(part, want[2<<20:][:1000]) {
		t.Error("a part of a payload changed while it was held")
	}
	part = nil
	_ = part
	collectGarbage()
	if st := s.Stats(); st != (Stats{}) {
		t.Errorf("released: %+v", st)
	}
	if mapped, _, _, _ := mappedOf(t, o.Dir); mapped != 0 {
		t.Errorf("released, and %d bytes are mapped", mapped)
	}
}

// TestBeyondTheBoundPayloadsAreRead checks that payloads beyond the limit are read, and that existing mappings stay.
func TestBeyondTheBoundPayloadsAreRead(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: 16 << 20}
	s := open(t, o)
	var held [][]byte
	mapped := 0
	for i := range 8 {
		mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1<<20)})
		r, err := s.Get(t.Context(), storetest.Key(i))
		if err != nil {
			t.Fatal(err)
		}
		if r.Mapped {
			mapped++
		}
		held = append(held, r.Payload)
	}
	if st := s.Stats(); mapped != 4 || st.Mapped != 4<<20 {
		t.Errorf("%d payloads of 1 MiB are mapped with a cap of 16 MiB: %+v", mapped, st)
	}
	for i, b := range held {
		if !bytes.Equal(b, storetest.Payload(uint64(i), 1<<20)) {
			t.Errorf("payload %d is wrong", i)
		}
	}
}

// TestMappedMemoryIsUsedAgain checks that memory that was mapped is plain memory afterwards, whatever the garbage
// collector does with it.
func TestMappedMemoryIsUsedAgain(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: -1}
	s := open(t, o)
	for i := range 4 {
		mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1<<20+i*4097)})
	}
	var places []uintptr
	again := 0
	for round := range 20 {
		for i := range 4 {
			r, err := s.Get(t.Context(), storetest.Key(i))
			if err != nil || !bytes.Equal(r.Payload, storetest.Payload(uint64(i), 1<<20+i*4097)) {
				t.Fatalf("round %d, record %d: %v", round, i, err)
			}
			places = append(places, uintptr(unsafe.Pointer(&r.Payload[0])))
		}
		collectGarbage()
		for range 4 {
			b := make([]byte, 1<<20)
			for j := range b {
				if b[j] != 0 {
					t.Fatalf("new memory holds %d", b[j])
				}
				b[j] = 0xff
			}
			at := uintptr(unsafe.Pointer(&b[0]))
			if slices.ContainsFunc(places, func(p uintptr) bool { return at < p+1<<20 && p < at+1<<20 }) {
				again++
			}
		}
	}
	if again == 0 {
		t.Error("no memory was used again: this shows nothing")
	}
}

// BenchmarkGetBlob reads a blob that is not mapped yet, with and without mapping.
func BenchmarkGetBlob(b *testing.B) {
	for _, size := range []int{256 << 10, 1 << 20, 16 << 20} {
		for _, how := range []string{"map", "read"} {
			b.Run(fmt.Sprintf("%dKiB/%s", size>>10, how), func(b *testing.B) {
				s := open(b, Options{Dir: b.TempDir(), MaxBytes: -1})
				limit := int64(0) // for none
				if how == "read" {
					limit = 1 // too little to map anything
				}
				s.mapped = s.files.NewMappings(limit)
				if err := s.Put(b.Context(), store.Record{Key: storetest.Key(1), Payload: storetest.Payload(1, size)}); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Get(b.Context(), storetest.Key(1)); err != nil {
						b.Fatal(err)
					}
					s.mapped = s.files.NewMappings(limit) // which has found nothing yet
				}
			})
		}
	}
}
