// Package cli implements the command line: flags, terminals and exit statuses.
// Other packages do the work of the commands.
//
// A command takes a flow file (package flow), a dataset ([FORMAT:]PATH) or the
// cache directory. Requested output, such as a list, a value or JSON, goes to
// stdout. Progress, the closing table of a run, warnings and errors are
// human-readable and go to stderr.
//
// The exit status is 0 for success, 1 if the work failed, and 2 if the request
// was invalid. It is 130 after Ctrl-C, SIGTERM, or SIGHUP (the terminal was
// closed), unless SIGHUP is ignored as under nohup. Then samples in progress
// are abandoned, and computed results stay cached. After a second signal the
// program has one second to end, after a third none. In the code a usageError
// is an invalid request and a failure is work that failed.
//
// A program that registers its own components (package component) calls [Main],
// and every command can use them:
//
//	func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
//
// Main handles the signals of the process, so only one may run at a time. It
// closes everything it opened before it returns.
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
	far "github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"

	// The components of Larder.
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
	exitRequest     = 2   // the request was invalid
	exitInterrupted = 130 // interrupted; computed results stay cached
)

// Main runs the command line and returns its exit status. Machine-readable
// output goes to stdout, human-readable output to stderr.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(context.Background())
	defer stop()
	defer restoreLimits()()
	if len(args) == 0 || args[0] != "serve" { // which bounds its garbage itself
		defer fewerCollections()()
	}
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
		err = failure{err} // the request was valid, whatever failed
	}
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "larder: interrupted; computed results are cached")
		return exitInterrupted
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "larder:", indentContinuations(urlpath.Hide(display.WithoutPackages(display.Error(err)))))
	}
	return status(err)
}

// indentContinuations indents later lines of a message that look like messages of the
// program, because names in it may contain such lines.
func indentContinuations(message string) string {
	return strings.ReplaceAll(message, "\nlarder:", "\n    larder:")
}

// checked remembers a failed write of the requested output.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.err = cmp.Or(c.err, err)
	return n, err
}

// errReported marks an error that was already shown to the user.
var errReported = errors.New("reported")

// usageError is an invalid request.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// failure is work that failed, in contrast to an invalid request.
type failure struct{ error }

func (e failure) Unwrap() error { return e.error }

// status returns the exit status for an error. Errors of cobra in the arguments
// are invalid requests.
func status(err error) int {
	var f failure
	if errors.As(err, &f) {
		return exitFailed
	}
	return exitRequest
}

// app is the state that the commands share.
type app struct {
	stdout, stderr io.Writer
	cache          string           // --cache
	store          string           // --store
	cacheSize      string           // --cache-size
	warned         func(flow.Event) // receives warnings, if not nil
	limits         limits           // --max-pixels, --max-unpacked
	profiles       profiles         // --cpuprofile and the like
	stop           func() error     // ends profiling
	passes         bool             // without a cache directory, results pass through
	alone          bool             // ignore the store that machines share
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "larder",
		Short: "Build datasets and compute only what changed",
		Long: `Larder runs flows: graphs of datasets that are read, mapped, reordered and
written. Results are cached in a directory that all processes of the machine share, and
returned only while they are valid.`,
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
	root.PersistentFlags().StringVar(&a.store, "store", "", "store that machines share, by `URL`: redis://HOST/0 or s3://BUCKET/DIRECTORY (default: LARDER_STORE)")
	root.PersistentFlags().StringVar(&a.cache, "cache", "", "cache `directory` (default: LARDER_CACHE, else larder in the user's cache directory)")
	root.PersistentFlags().StringVar(&a.cacheSize, "cache-size", "", "maximum `size` of the cache on disk, such as 50GiB, or none (default: LARDER_CACHE_SIZE, else 20GiB)")
	a.limits.flags(root)
	a.profiles.flags(root)
	root.AddCommand(a.runCommand(), a.rangesCommand(), a.lintCommand(), a.flowCommand(), a.componentsCommand(), a.formatsCommand(), a.schemaCommand(), a.simulateCommand())
	root.AddCommand(a.inventoryCommands()...)
	root.AddCommand(a.opCommand(), a.mapCommand(), a.timeitCommand())
	root.AddCommand(a.whyCommand(), a.auditCommand(), a.treeCommand(), a.verifyCommand(), a.validateCommand())
	root.AddCommand(a.drawCommand(), a.serveCommand(), a.topCommand(), a.embedCommand(), a.versionCommand(), a.manCommand(), a.reportCommand())
	return root
}

// withLarder opens the cache directory with options o, and closes it after f.
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

// open opens the cache directory with the flags and the options o.
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
	if err != nil && a.passes && a.cache == "" && os.Getenv("LARDER_CACHE") == "" && !errors.Is(err, store.ErrForeign) && !a.hasDir() {
		a.logger().Warn("no cache directory: results are cached for this run only; set --cache or LARDER_CACHE", "err", err)
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
		return nil, usageError{&cacheError{a.shownDir(), err}}
	case err != nil:
		return nil, failure{&cacheError{a.shownDir(), err}}
	}
	return l, nil
}

// openWith opens a larder with options o and the store that machines share.
func (a *app) openWith(o larder.Options) (*larder.Larder, error) {
	if !a.alone {
		s, named, err := a.openShared(o.Logger)
		if err != nil {
			return nil, err
		}
		if named {
			o.Shared = s
		}
	}
	return larder.Open(o)
}

// cacheError is the reason why a cache directory cannot be used.
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

// hasDir reports whether the user's cache directory exists or can be
// created.
func (a *app) hasDir() bool {
	dir, err := a.directory()
	return err == nil && os.MkdirAll(dir, 0o700) == nil
}

// directory returns the cache directory.
func (a *app) directory() (string, error) {
	if a.cache != "" {
		return a.cache, nil
	}
	return larder.DefaultDir()
}

// shownDir returns the cache directory, or "" if it is unknown.
func (a *app) shownDir() string {
	dir, _ := a.directory()
	return dir
}

// maxBytes returns the bound of the cache for larder.Options.
func (a *app) maxBytes() (int64, error) {
	size := cmp.Or(a.cacheSize, os.Getenv("LARDER_CACHE_SIZE"))
	switch size {
	case "":
		return 0, nil
	case "none":
		return -1, nil
	}
	n, err := display.ParseSize(size)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("cache size %q: must be a size such as 50GiB, or none", size)
	}
	return n, nil
}

// logger returns a logger that writes human-readable warnings, one line each.
func (a *app) logger() *slog.Logger {
	return slog.New(newWarnings(a.stderr, a.warned))
}

func (a *app) parse(file string, set variables) (*flow.Flow, error) {
	f, err := os.Open(filepath.Clean(file)) // relative paths of the flow start the same way
	if err != nil {
		return nil, usageError{err}
	}
	defer f.Close()
	content, err := flow.ReadFrom(f, file) // the file may be a pipe
	if err != nil {
		return nil, usageError{err}
	}
	return a.parseText(file, content, set)
}

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

// flowError distinguishes invalid requests to a flow from failed work.
func flowError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, flow.ErrRequest):
		return usageError{err}
	}
	return failure{err}
}
