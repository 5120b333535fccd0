// Package cli is the command line: flags, terminals and exit statuses. What the
// commands do is done by other packages.
//
// A command is about a flow file (package flow), a dataset ([FORMAT:]PATH) or the
// cache folder. What it was asked for, such as a list, a value or JSON, goes to
// stdout; how a run gets on, its closing table, warnings and errors are for
// people and go to stderr.
//
// The exit status is 0 if all is well, 1 if the work failed, 2 if the request
// was wrong, and 130 if the program was told to stop by Ctrl-C, SIGTERM or, if that
// is not ignored as under nohup, SIGHUP (the terminal was closed):
// samples under way are given up, and what was computed is kept. A second signal
// leaves it a second to end by itself, and a third none. In the code a usageError is a wrong request and a failure is
// work that failed.
//
// A program that registers components of its own (package component) calls
// [Main] and has them in every command:
//
//	func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
//
// Main takes the signals of the process, so only one runs at a time. What it
// opens is closed when it returns.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/codec/native"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/mapper"
	far "github.com/larder-data/larder/place"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"

	// The components that come with Larder.
	_ "github.com/larder-data/larder/format/arrow"
	_ "github.com/larder-data/larder/format/csv"
	_ "github.com/larder-data/larder/format/hf"
	_ "github.com/larder-data/larder/format/images"
	_ "github.com/larder-data/larder/format/jsonl"
	_ "github.com/larder-data/larder/format/mds"
	_ "github.com/larder-data/larder/format/numpy"
	_ "github.com/larder-data/larder/format/parquet"
	_ "github.com/larder-data/larder/format/text"
	_ "github.com/larder-data/larder/format/tfrecord"
	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/format/webdataset"
	_ "github.com/larder-data/larder/format/zip"
	_ "github.com/larder-data/larder/op"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // the work failed
	exitRequest     = 2   // the request was wrong
	exitInterrupted = 130 // interrupted; what was computed is kept
)

// Main runs the command line and returns its exit status. Everything for
// machines goes to stdout, everything for people to stderr.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(context.Background())
	defer stop()
	defer restoreLimits()()
	defer fewerCollections()()
	out := &checked{Writer: stdout}
	a := &app{stdout: out, stderr: stderr, stop: func() error { return nil }}
	ctx = dataset.WithLog(ctx, a.logger())
	switch how := os.Getenv("LARDER_YAML"); how {
	case "", "strict":
		codec.StrictYAML.Store(how != "")
	default:
		fmt.Fprintf(stderr, "larder: LARDER_YAML is %q; it can be strict, or empty\n", how)
		return exitRequest
	}
	switch how := os.Getenv("LARDER_HEDGE"); how {
	case "":
	case "off":
		far.AskOnce.Store(true)
	default:
		fmt.Fprintf(stderr, "larder: LARDER_HEDGE is %q; it can be off, or empty\n", how)
		return exitRequest
	}
	dataset.TidyMemory.Store(true)
	if err := native.Use(os.Getenv("LARDER_NATIVE")); err != nil {
		fmt.Fprintf(stderr, "larder: LARDER_NATIVE is %q: %s\n", os.Getenv("LARDER_NATIVE"), display.WithoutPackages(err.Error()))
		return exitRequest
	}
	root := a.command()
	args = withNames(root, args)
	root.SetArgs(args)
	err := unknownCommand(root, root.ExecuteContext(ctx))
	if perr := a.stop(); perr != nil && err == nil {
		err = failure{perr}
	}
	switch {
	case out.err == nil:
	case err == nil:
		err = failure{fmt.Errorf("standard output: %w", out.err)}
	default:
		err = failure{err} // the request was right, whatever failed by it
	}
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "larder: interrupted; what was computed is kept")
		return exitInterrupted
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "larder:", oneVoice(urlpath.Hide(display.WithoutPackages(display.Error(err)))))
	}
	return status(err)
}

// oneVoice is a message of which no line but the first looks like one of the program,
// whatever the names in it are.
func oneVoice(message string) string {
	return strings.ReplaceAll(message, "\nlarder:", "\n    larder:")
}

// checked remembers that what was asked for could not be written.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.err = cmp.Or(c.err, err)
	return n, err
}

// errReported marks an error that the user has been shown.
var errReported = errors.New("reported")

// usageError is a request that cannot be understood.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// failure is work that failed, as against a request that was wrong.
type failure struct{ error }

func (e failure) Unwrap() error { return e.error }

// status is the exit status for an error. Errors that cobra finds in the
// arguments are wrong requests.
func status(err error) int {
	var f failure
	if errors.As(err, &f) {
		return exitFailed
	}
	return exitRequest
}

// app is what the commands share.
type app struct {
	stdout, stderr io.Writer
	cache          string           // --cache
	cacheSize      string           // --cache-size
	warned         func(flow.Event) // told of warnings, if not nil
	limits         limits           // --max-pixels, --max-unpacked
	profiles       profiles         // --cpuprofile and the like
	stop           func() error     // ends these
	passes         bool             // results may pass through, if there is no place to keep them in
	alone          bool             // what other machines share is of no interest
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "larder",
		Short: "Build datasets, and compute only what changed",
		Long: `Larder runs flows: graphs of datasets that are read, mapped, reordered and
written. What is computed is kept in a cache that all processes of the machine
share, and handed back only while it is still right.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) (err error) {
			if err = missingFlags(c); err != nil {
				return err
			}
			if err = a.limits.set(); err == nil {
				a.stop, err = a.profiles.start()
			}
			return err
		},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&a.cache, "cache", "", "cache `folder` (default: LARDER_CACHE, else larder in the user's cache folder)")
	root.PersistentFlags().StringVar(&a.cacheSize, "cache-size", "", "bound of the cache on disk, such as 50GiB, or none (default: LARDER_CACHE_SIZE, else 20GiB)")
	a.limits.flags(root)
	a.profiles.flags(root)
	root.AddCommand(a.runCommand(), a.lintCommand(), a.flowCommand(), a.componentsCommand(), a.formatsCommand(), a.schemaCommand(), a.simulateCommand())
	root.AddCommand(a.inventoryCommands()...)
	root.AddCommand(a.opCommand(), a.mapCommand(), a.timeitCommand())
	root.AddCommand(a.whyCommand(), a.auditCommand(), a.treeCommand(), a.verifyCommand(), a.validateCommand())
	root.AddCommand(a.drawCommand(), a.serveCommand(), a.topCommand(), a.embedCommand(), a.versionCommand(), a.manCommand(), a.reportCommand())
	return root
}

// withLarder opens the cache folder as o says, and closes it after f.
func (a *app) withLarder(o larder.Options, f func(*larder.Larder) error) (err error) {
	l, err := a.open(o)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := l.Close(); cerr != nil {
			err = failure{errors.Join(err, cerr)}
		}
	}()
	return f(l)
}

// open opens the cache folder as the flags say, and as o says besides.
func (a *app) open(o larder.Options) (*larder.Larder, error) {
	size, err := a.maxBytes()
	if err != nil {
		return nil, usageError{err}
	}
	if err := mapper.Sweep(); err != nil {
		a.logger().Warn("what commands of a run that was killed left cannot be removed", "err", err)
	}
	o.Dir, o.MaxBytes, o.Logger = a.cache, size, a.logger()
	l, err := a.openWith(o)
	if err != nil && a.passes && a.cache == "" && os.Getenv("LARDER_CACHE") == "" && !errors.Is(err, store.ErrForeign) && !a.hasFolder() {
		a.logger().Warn("there is no cache folder, so nothing is kept beyond this run; name one by --cache or LARDER_CACHE", "err", err)
		o.Store = memory.New(memory.Options{})
		l, err = a.openWith(o)
	}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return nil, usage
	case errors.Is(err, larder.ErrSetting):
		return nil, usageError{errors.New(display.WithoutPackages(err.Error()))}
	case errors.Is(err, store.ErrForeign):
		return nil, usageError{&cacheError{a.shownFolder(), err}}
	case err != nil:
		return nil, failure{&cacheError{a.shownFolder(), err}}
	}
	return l, nil
}

// openWith opens what o says, with what other machines share.
func (a *app) openWith(o larder.Options) (*larder.Larder, error) {
	if !a.alone {
		s, named, err := openShared(o.Logger)
		if err != nil {
			return nil, err
		}
		if named {
			o.Shared = s
		}
	}
	return larder.Open(o)
}

// cacheError is why a cache folder cannot be used.
type cacheError struct {
	dir string
	err error
}

func (e *cacheError) Error() string {
	text := display.WithoutPackages(e.err.Error())
	if e.dir == "" {
		return text // which says that there is none
	}
	if dir, err := filepath.Abs(e.dir); err == nil {
		text = strings.TrimPrefix(text, "open "+dir+": ")
	}
	return fmt.Sprintf("the cache %s cannot be used: %s", e.dir, text)
}

func (e *cacheError) Unwrap() error { return e.err }

// hasFolder reports whether the user's cache folder is there, or can be made.
func (a *app) hasFolder() bool {
	dir, err := a.folder()
	return err == nil && os.MkdirAll(dir, 0o700) == nil
}

// folder is the cache folder.
func (a *app) folder() (string, error) {
	if a.cache != "" {
		return a.cache, nil
	}
	return larder.DefaultDir()
}

// shownFolder is the cache folder, "" if it cannot be told.
func (a *app) shownFolder() string {
	dir, _ := a.folder()
	return dir
}

// maxBytes is the bound of the cache in the terms of larder.Options.
func (a *app) maxBytes() (int64, error) {
	size := cmp.Or(a.cacheSize, os.Getenv("LARDER_CACHE_SIZE"))
	switch size {
	case "":
		return 0, nil
	case "none":
		return -1, nil
	}
	n, err := flow.ParseBytes(size)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("cache size %q is not a size such as 50GiB, or none", size)
	}
	return n, nil
}

// logger writes warnings for people, a line each.
func (a *app) logger() *slog.Logger {
	return slog.New(newWarnings(a.stderr, a.warned))
}

// parse reads a flow file with its variables set.
func (a *app) parse(file string, set variables) (*flow.Flow, error) {
	f, err := os.Open(filepath.Clean(file)) // which is how its own paths start
	if err != nil {
		return nil, usageError{err}
	}
	defer f.Close()
	content, err := flow.ReadFrom(f, file) // it may be a pipe
	if err != nil {
		return nil, usageError{err}
	}
	return a.parseText(file, content, set)
}

// parseText reads a flow, the content of a file.
func (a *app) parseText(file string, content []byte, set variables) (*flow.Flow, error) {
	set, err := set.of(file, content)
	if err != nil {
		return nil, usageError{err}
	}
	f, err := flow.Parse(file, content, set.values)
	if err != nil {
		return nil, usageError{err}
	}
	a.limits.apply(f.Limits)
	return f, nil
}

// flowError tells requests that a flow cannot carry out from work that failed.
func flowError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flow.ErrRequest):
		return usageError{err}
	}
	return failure{err}
}
