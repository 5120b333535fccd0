package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	exectrace "runtime/trace"

	"github.com/spf13/cobra"
)

// profiles are files for profiles of Larder itself. Existing files are never
// overwritten.
type profiles struct{ cpu, memory, trace string }

func (p *profiles) flags(root *cobra.Command) {
	for name, f := range map[string]struct {
		to   *string
		what string
	}{
		"cpuprofile": {&p.cpu, "write a CPU profile of the command to a new `file`"},
		"memprofile": {&p.memory, "write a profile of what memory holds at the end to a new `file`"},
		"exectrace":  {&p.trace, "write a trace of the execution to a new `file`, for go tool trace"},
	} {
		root.PersistentFlags().StringVar(f.to, name, "", f.what)
		_ = root.PersistentFlags().MarkHidden(name) // the flag exists
	}
}

// start begins the requested profiles; stop ends them and writes the rest.
func (p *profiles) start() (stop func() error, err error) {
	var ends []func() error
	stop = func() error {
		var errs []error
		for _, end := range ends {
			errs = append(errs, end())
		}
		ends = nil
		return errors.Join(errs...)
	}
	begin := func(flag, path string, start func(*os.File) error, end func(*os.File) error) {
		if path == "" || err != nil {
			return
		}
		f, ferr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if ferr == nil {
			ferr = start(f)
		}
		if ferr != nil {
			err = usageError{fmt.Errorf("--%s: %w", flag, ferr)}
			return
		}
		ends = append(ends, func() error { return errors.Join(end(f), f.Close()) })
	}
	begin("cpuprofile", p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, func(*os.File) error { pprof.StopCPUProfile(); return nil })
	begin("exectrace", p.trace, func(f *os.File) error { return exectrace.Start(f) }, func(*os.File) error { exectrace.Stop(); return nil })
	begin("memprofile", p.memory, func(*os.File) error { return nil }, func(f *os.File) error {
		runtime.GC() // the heap in use, without garbage
		return pprof.WriteHeapProfile(f)
	})
	if err != nil {
		_ = stop()
	}
	return stop, err
}
