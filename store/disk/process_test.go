//go:build unix

package disk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// childEnv is set to a role, a directory and arguments when the test binary runs as another process.
const childEnv = "LARDER_DISK_TEST_CHILD"

var roles = map[string]func(s *Store, args []string) error{
	"write":     writeForever,
	"append":    appendForever,
	"writeSome": writeSome,
	"count":     countUnderLease,
	"churn":     churn,
	"fill":      fillToLimit,
	"leaveTemp": leaveTemp,
	"contend":   contend,
	"hold":      hold,
}

// childRole returns the function of this process as a child, or nil if it is not a child.
func childRole() func() {
	words := strings.Fields(os.Getenv(childEnv))
	if len(words) == 0 {
		return nil
	}
	return func() {
		o := Options{Dir: words[1], PackBytes: 64 << 10, BlobBytes: 8 << 10}
		if words[0] == "churn" {
			o.MaxBytes = churnLimit
		}
		s, err := openOn(o, mediaOf[os.Getenv(lendEnv)])
		if err == nil {
			err = errors.Join(roles[words[0]](s, words[2:]), s.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
	}
}

// child starts another process in a role.
func child(t *testing.T, dir, role string, args ...any) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role+" "+dir+" "+strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open as long as this process lives
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewReader(out)
}

// record returns record i, whose payload has its own size: a few are blobs, and three neighbours of each eight are
// small.
func record(i int) store.Record {
	size := i * 997 % 9000
	if i%8 > 4 {
		size %= 700
	}
	return store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), size), Provenance: storetest.Payload(7, i%50)}
}

func recordsFrom(from, n int) []store.Record {
	records := make([]store.Record, n)
	for i := range records {
		records[i] = record(from + i)
	}
	return records
}

func holds(s *Store, i int) error {
	got, err := s.Get(context.Background(), storetest.Key(i))
	if err != nil {
		return fmt.Errorf("record %d: %w", i, err)
	}
	if !bytes.Equal(got.Payload, record(i).Payload) {
		return fmt.Errorf("record %d is wrong", i)
	}
	return nil
}

// writeForever puts records from a number on, in batches, and prints each number after its Put returned. It deletes the
// first of each two, and collects occasionally, so that it may be killed during either.
func writeForever(s *Store, args []string) error {
	var from, each int
	if _, err := fmt.Sscan(strings.Join(args, " "), &from, &each); err != nil {
		return err
	}
	ctx := context.Background()
	release, err := s.Lease(ctx, storetest.Key(0))
	if err != nil {
		return err
	}
	defer release()
	for i := from; ; i += each {
		if err := s.Put(ctx, recordsFrom(i, each)...); err != nil {
			return err
		}
		var done []byte
		var first []key.Key
		for n := i; n < i+each; n++ {
			if n%2 == 1 {
				first = append(first, storetest.Key(n-1))
			}
			done = fmt.Appendln(done, n)
		}
		if err := s.Delete(ctx, first...); err != nil {
			return err
		}
		if _, err := os.Stdout.Write(done); err != nil {
			return err
		}
		if i/each%30 == 0 {
			if _, err := s.Collect(ctx, 1<<40); err != nil {
				return err
			}
		}
	}
}

// checkAcknowledged compares a directory with the acknowledgements of writeForever.
func checkAcknowledged(t *testing.T, dir string, acknowledged int) {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for i := range acknowledged {
		err := holds(s, i)
		switch {
		case i%2 == 1 && err != nil:
			t.Fatal(err)
		case i%2 == 0 && i+1 < acknowledged && !errors.Is(err, store.ErrNotFound):
			t.Fatalf("record %d was deleted: %v", i, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	release, err := s.Lease(ctx, storetest.Key(0))
	if err != nil {
		t.Fatalf("the lease of a dead process: %v", err)
	}
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestKilledWriterLosesNothingItAcknowledged(t *testing.T) {
	testrand.Long(t)
	for _, each := range []int{1, 20} {
		t.Run(fmt.Sprint(each, " together"), func(t *testing.T) { testKilledWriter(t, each) })
	}
}

func testKilledWriter(t *testing.T, each int) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := 0
	for range testrand.Rounds(8, 25) {
		cmd, out := child(t, dir, "write", acknowledged, each)
		for range 1 + random.IntN(200*each) {
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if n, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || n != acknowledged {
				t.Fatalf("child wrote %q, want %d", line, acknowledged)
			}
			acknowledged++
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		// Acknowledgements written to the pipe before it died count, too.
		rest, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged += bytes.Count(rest, []byte("\n"))
		_ = cmd.Wait() // killed
		checkAcknowledged(t, dir, acknowledged)
	}
	if n := countPacks(t, dir); n > acknowledged*5000/(64<<10)+3 {
		t.Errorf("%d packs for %d records: they are not adopted", n, acknowledged)
	}
}

// writeSome puts a range of records in batches while it reads those of other processes, and then waits until it has seen
// all of them.
func writeSome(s *Store, args []string) error {
	var from, to, total int
	if _, err := fmt.Sscan(strings.Join(args, " "), &from, &to, &total); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		if (i-from)%7 == 0 {
			if err := s.Put(context.Background(), recordsFrom(i, min(7, to-i))...); err != nil {
				return err
			}
		}
		if err := holds(s, (i*7)%total); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := range total {
		err := vfs.Retry(ctx, func() error {
			if err := holds(s, i); errors.Is(err, store.ErrNotFound) {
				return vfs.ErrLocked // another process is not finished yet
			} else if err != nil {
				return err
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("waiting for record %d: %w", i, err)
		}
	}
	return nil
}

func TestProcessesSeeEachOthersRecords(t *testing.T) {
	const processes, each = 5, 150
	dir := t.TempDir()
	// One more process collects all the time, which must not lose anything.
	s := open(t, Options{Dir: dir, PackBytes: 64 << 10, BlobBytes: 8 << 10})
	ctx, cancel := context.WithCancel(t.Context())
	var collector sync.WaitGroup
	collector.Go(func() {
		for ctx.Err() == nil {
			if _, err := s.Collect(ctx, 1<<40); err != nil && ctx.Err() == nil {
				t.Errorf("Collect: %v", err)
			}
		}
	})
	var children []*exec.Cmd
	for p := range processes {
		cmd, _ := child(t, dir, "writeSome", p*each, (p+1)*each, processes*each)
		children = append(children, cmd)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Errorf("child: %v", err)
		}
	}
	cancel()
	collector.Wait()
	for i := range processes * each {
		if err := holds(s, i); err != nil {
			t.Error(err)
		}
	}
}

const (
	churnLimit   = 2 << 20
	churnRecords = 1000
)

// churn puts, reads and deletes records in a store that evicts all the time.
func churn(s *Store, args []string) error {
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for range testrand.Rounds(1000, 3000) {
		i := random.IntN(churnRecords)
		if err := holds(s, i); errors.Is(err, store.ErrNotFound) {
			err = s.Put(context.Background(), recordsFrom(i, 1+random.IntN(8))...)
			if err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		if random.IntN(100) == 0 {
			if err := s.Delete(context.Background(), storetest.Key(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestProcessesShareACap checks processes that write, evict and delete concurrently. They see right records or none,
// stay within the limit, and find nothing damaged.
func TestProcessesShareACap(t *testing.T) {
	testrand.Long(t)
	dir := t.TempDir()
	var children []*exec.Cmd
	var log bytes.Buffer
	for p := range 4 {
		cmd, _ := child(t, dir, "churn", p)
		children = append(children, cmd)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Errorf("child: %v", err)
		}
	}
	s := open(t, Options{Dir: dir, MaxBytes: churnLimit, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	stored := 0
	for i := range churnRecords {
		if err := holds(s, i); err == nil {
			stored++
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
	if stored < churnRecords/10 {
		t.Errorf("only %d records are stored", stored)
	}
	if u, err := s.Usage(t.Context()); err != nil || u.Bytes > churnLimit*3/2 {
		t.Errorf("%d bytes held, cap %d, %v", u.Bytes, churnLimit, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if aside, err := os.ReadDir(dir + "/" + vfs.Quarantine); err != nil || len(aside) > 0 || log.Len() > 0 {
		t.Errorf("damage was found: %v, %v, %s", aside, err, log.String())
	}
}

// countUnderLease increments a number in a file many times, each under the lease: without exclusion, some are lost.
func countUnderLease(s *Store, args []string) error {
	times, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for range times {
		release, err := s.Lease(context.Background(), storetest.Key(0))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return err
		}
		if err := os.WriteFile(args[0], fmt.Append(nil, n+1), 0o666); err != nil {
			return err
		}
		release()
	}
	return nil
}

func TestLeaseExcludesProcesses(t *testing.T) { eachKeyLocker(t, testLeaseExcludes) }

func testLeaseExcludes(t *testing.T, _ vfs.Fail) {
	const processes, times = 4, 100
	dir := t.TempDir()
	counter := dir + "/counter"
	if err := os.WriteFile(counter, []byte("0"), 0o666); err != nil {
		t.Fatal(err)
	}
	var children []*exec.Cmd
	for range processes {
		cmd, _ := child(t, dir+"/store", "count", counter, times)
		children = append(children, cmd)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Errorf("child: %v", err)
		}
	}
	if text, err := os.ReadFile(counter); err != nil || string(text) != fmt.Sprint(processes*times) {
		t.Errorf("counted %s, %v, want %d", text, err, processes*times)
	}
}

func TestLeaseIsTakenOverFromTheDead(t *testing.T) { eachKeyLocker(t, testTakenOver) }

func testTakenOver(t *testing.T, fail vfs.Fail) {
	dir := t.TempDir()
	cmd, out := child(t, dir, "write", 0, 1) // holds the lease of key 0
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s := openBy(t, dir, fail)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Lease(ctx, storetest.Key(0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a lease that is held: %v", err)
	}
	taken := make(chan error)
	go func() {
		release, err := s.Lease(t.Context(), storetest.Key(0))
		if err == nil {
			release()
		}
		taken <- err
	}()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if err := <-taken; err != nil {
		t.Errorf("after the holder died: %v", err)
	}
}

func countPacks(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	err := (&vfs.Directory{Dir: dir}).Each(dir+"/"+vfs.Packs, func(_ string, e os.DirEntry) error {
		if _, ok := parsePackName(e.Name()); ok {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fillToLimit exceeds a limit of file sizes, which resembles a full disk.
func fillToLimit(s *Store, _ []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 40_000, Max: 40_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	var stored int
	for ; ; stored++ {
		err := s.Put(context.Background(), store.Record{Key: storetest.Key(stored), Payload: storetest.Payload(uint64(stored), 3000)})
		if errors.Is(err, store.ErrFull) {
			break
		}
		if err != nil || stored > 100 {
			return fmt.Errorf("record %d: %w, want ErrFull", stored, err)
		}
	}
	for i := range stored + 1 {
		got, err := s.Get(context.Background(), storetest.Key(i))
		if i == stored && errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil || !bytes.Equal(got.Payload, storetest.Payload(uint64(i), 3000)) {
			return fmt.Errorf("record %d of %d: %w", i, stored, err)
		}
	}
	if err := fillByMany(s, stored+1); err != nil {
		return err
	}
	return s.Put(context.Background(), store.Record{Key: storetest.Key(stored), Payload: []byte("fits")})
}

// fillByMany is like fillToLimit, with groups that do not all fit: each is stored entirely or not at all.
func fillByMany(s *Store, from int) error {
	var records []store.Record
	for i := range 300 {
		records = append(records, store.Record{Key: storetest.Key(from + i), Payload: storetest.Payload(uint64(i), 400)})
	}
	if err := s.Put(context.Background(), records...); !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("many records: %w, want ErrFull", err)
	}
	stored := 0
	for _, r := range records {
		got, err := s.Get(context.Background(), r.Key)
		if err == nil && bytes.Equal(got.Payload, r.Payload) {
			stored++
		} else if !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("record %s: %w", r.Key, err)
		}
	}
	if stored == len(records) {
		return errors.New("all of the records are stored")
	}
	return nil
}
