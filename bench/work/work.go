// Package work implements the jobs of the systems under test that are written in Go.
// Each job runs one system for one row, once, in its own process.
package work

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// A Job describes the work of a process, which receives it as JSON.
type Job struct {
	Row        string  `json:"row"`
	Contestant string  `json:"contestant"`
	Phase      string  `json:"phase"`   // "" in rows without phases
	Dir        string  `json:"dir"`     // directory that the phases of one run share, empty at first
	Data       string  `json:"data"`    // common input of all systems, if the row has any
	N          int     `json:"n"`       // number of keys, values, nodes or samples
	Bytes      int     `json:"bytes"`   // size of a value
	Seconds    float64 `json:"seconds"` // how long to repeat fast operations
}

// Figures are the results, under the names that the row's columns use: seconds, bytes
// and counts.
type Figures map[string]float64

// contests are the functions by row.
var contests = map[string]func(context.Context, Job) (Figures, error){
	"hit": hit, "result": result, "argument": argument, "key": keys, "chain": chain,
	"stampede": stampede, "store": storeRow, "store-sync": storeRow, "incremental": incremental,
	"policies": policies, "letters": letters, "memory": memory, "records": storeRow, "samples": samples,
}

// Main runs the job and prints its figures, or the error, as JSON.
func Main(ctx context.Context, job string) error {
	var j Job
	if err := json.Unmarshal([]byte(job), &j); err != nil {
		return err
	}
	contest, ok := contests[j.Row]
	if !ok {
		return fmt.Errorf("there is no row %q", j.Row)
	}
	stop, err := profile(j)
	if err != nil {
		return err
	}
	f, err := contest(ctx, j)
	stop()
	if err != nil {
		return json.NewEncoder(os.Stdout).Encode(map[string]string{"error": err.Error()})
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// profile starts a CPU profile if BENCH_PROFILE names a directory for it. At the end it
// also writes a heap profile of the last collection.
func profile(j Job) (stop func(), err error) {
	dir := os.Getenv("BENCH_PROFILE")
	if dir == "" {
		return func() {}, nil
	}
	name := filepath.Join(dir, strings.ReplaceAll(fmt.Sprintf("%s-%s-%s-%d", j.Row, j.Contestant, j.Phase, j.N), "/", "_"))
	cpu, err := os.Create(name + ".prof")
	if err != nil {
		return nil, err
	}
	heap, err := os.Create(name + ".heap")
	if err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = pprof.WriteHeapProfile(heap) // readers detect an incomplete file
	}, pprof.StartCPUProfile(cpu)
}

// ready reports that the preparation is complete, and waits for the signal to begin, so
// that several processes begin together.
func ready() {
	_, _ = fmt.Fprintln(os.Stdout, "ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

var errUnknown = errors.New("the row has no such contestant in Go")

// seconds returns the seconds since a time.
func seconds(since time.Time) float64 { return time.Since(since).Seconds() }

// repeat calls f, which performs n operations, for the job's time and at least once, and
// returns the seconds per operation.
func (j Job) repeat(n int, f func() error) (float64, error) {
	begin, times := time.Now(), 0
	for times == 0 || seconds(begin) < j.Seconds {
		if err := f(); err != nil {
			return 0, err
		}
		times++
	}
	return seconds(begin) / float64(times*n), nil
}

// rss returns the bytes of this process that are its own, and those mapped from files.
func rss() (anon, mapped float64) {
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
		switch name {
		case "RssAnon":
			anon = n * 1024
		case "RssFile":
			mapped = n * 1024
		}
	}
	return anon, mapped
}
