package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/render"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

type drawFlags struct {
	set    variables
	only   []string
	output string
	format string
	report string
}

func (a *app) drawCommand() *cobra.Command {
	var f drawFlags
	c := &cobra.Command{
		Use:   "draw FLOW -o FILE.svg|.dot|.mmd",
		Short: "Draw a flow as SVG, Graphviz or Mermaid",
		Args:  words(1, 1),
		RunE:  func(c *cobra.Command, args []string) error { return a.draw(c.Context(), args[0], f) },
	}
	c.Flags().StringVarP(&f.output, "output", "o", "", "`file` to write (- for stdout)")
	c.Flags().StringVar(&f.format, "format", "", "svg, dot (Graphviz) or mmd (Mermaid) (default: by the extension of the file)")
	c.Flags().StringVar(&f.report, "report", "", "show the counters of a run from its report, the `file` of larder run --report")
	c.Flags().StringArrayVar(&f.only, "only", nil, "draw this `node` and its dependencies; may be repeated")
	f.set.flags(c)
	if err := c.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is defined above
	}
	return c
}

// drawFormats are the writers of drawings, by file extension.
var drawFormats = map[string]func(*render.Drawing, io.Writer) error{
	"svg":     (*render.Drawing).SVG,
	"dot":     (*render.Drawing).DOT,
	"gv":      (*render.Drawing).DOT,
	"mmd":     (*render.Drawing).Mermaid,
	"mermaid": (*render.Drawing).Mermaid,
}

func (a *app) draw(ctx context.Context, file string, f drawFlags) error {
	write, err := f.writer()
	if err != nil {
		return usageError{err}
	}
	fl, err := a.parse(file, f.set)
	if err != nil {
		return err
	}
	for _, name := range f.only {
		if _, err := fl.Node(name); err != nil {
			return usageError{err}
		}
	}
	in, err := a.reading(ctx, fl, f.set, pathguard.Input{Owner: "--report", Path: f.report})
	if err != nil {
		return err
	}
	if err := protectFile(ctx, in, "-o", f.output); err != nil {
		return err
	}
	o := render.Options{Only: f.only}
	if f.report != "" {
		if o.Report, err = readReport(f.report, fl); err != nil {
			return usageError{err}
		}
	}
	d := render.Of(fl, o)
	if err := a.writeTo(f.output, func(w io.Writer) error { return write(d, w) }); err != nil {
		return failure{err}
	}
	return nil
}

func (f drawFlags) writer() (func(*render.Drawing, io.Writer) error, error) {
	name := f.format
	if name == "" && f.output != "-" {
		name = strings.ToLower(strings.TrimPrefix(filepath.Ext(f.output), "."))
	}
	if write, ok := drawFormats[name]; ok {
		return write, nil
	}
	valid := strings.Join(slices.Sorted(maps.Keys(drawFormats)), ", ")
	if name == "" {
		return nil, fmt.Errorf("-o %s: unknown extension; give --format, one of %s", f.output, valid)
	}
	return nil, fmt.Errorf("format %q: unknown; valid: %s", name, valid)
}

func readReport(file string, fl *flow.Flow) (*flow.Report, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &flow.Report{}
	if err := json.Unmarshal(content, r); err != nil {
		return nil, fmt.Errorf("report %s: %w", file, err)
	}
	if r.Version != 1 {
		return nil, fmt.Errorf("report %s: version %d is not supported; this program reads version 1", file, r.Version)
	}
	if r.Flow != fl.Name {
		return nil, fmt.Errorf("report %s is of flow %s, not %s", file, r.Flow, fl.Name)
	}
	return r, nil
}
