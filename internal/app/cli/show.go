package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

type showFlags struct{ raw, json bool }

func (a *app) showCommand() *cobra.Command {
	var f showFlags
	c := &cobra.Command{
		Use:   "show KEY",
		Short: "Show a record, its dependencies and its value",
		Long: `Shows a record, what it was computed from, and its value as far as that is known
without running code. KEY may be a prefix that only one record has. The value of a
link is that of its target.`,
		Args: words(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.show(c.Context(), args[0], f)
		},
	}
	c.Flags().BoolVar(&f.raw, "raw", false, "write only the value to stdout, as it is stored")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (a *app) show(ctx context.Context, prefix string, f showFlags) error {
	if f.raw && f.json {
		return usageError{errors.New("give either --raw or --json, not both")}
	}
	return a.existing(true, func(s store.Store) error {
		if s == nil {
			return usageError{&inventory.UnknownError{Name: prefix}}
		}
		r, err := inventory.Find(ctx, s, prefix)
		if err != nil {
			return inventoryError(err)
		}
		if f.raw {
			rec, err := inventory.Get(ctx, s, r.Key)
			if err != nil {
				return failure{err}
			}
			_, err = a.stdout.Write(rec.Payload)
			return written(err)
		}
		d, err := inventory.Describe(ctx, s, r)
		if err != nil {
			return inventoryError(err)
		}
		if f.json {
			return writeJSON(a.stdout, newDescriptionJSON(d))
		}
		return writeDescription(a.stdout, d)
	})
}

func writeDescription(w io.Writer, d inventory.Description) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	now := time.Now()
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, printable(fmt.Sprintf(format, args...)))
	}
	line("key", "%s", d.Key)
	line("node", "%s", d.Node)
	line("kind", "%s", d.Kind)
	if !d.Link.IsZero() {
		line("links to", "%s", d.Link)
	}
	for _, k := range d.LinkedFrom {
		line("linked from", "%s", k)
	}
	for _, p := range d.Parts {
		if p.Kind == key.CodePart {
			line("code", "%s", p.Value)
		}
	}
	line("size", "%s", size(d.Size))
	line("type", "%016x", d.Type)
	line("cost", "%s", secondsOrDot(d.Cost.Seconds()))
	line("created", "%s (%s ago)", d.Created.UTC().Format(time.RFC3339), ago(now, d.Created))
	line("last used", "%s (%s ago)", d.Used.UTC().Format(time.RFC3339), ago(now, d.Used))
	line("pinned", "%s", ifElse(d.Pinned, "yes", "no"))
	for _, m := range d.Manifests {
		line("manifest", "%s%s", m.Name, pinning(m.Pinned))
	}
	for _, p := range d.Parts {
		if p.Kind != key.OpPart && p.Kind != key.CodePart {
			line(p.Kind, "%s = %s", p.Name, p.Value)
		}
	}
	if err := t.Flush(); err != nil {
		return failure{err}
	}
	return writeContent(w, d.Content)
}

func writeContent(w io.Writer, c *inventory.Content) error {
	if c == nil {
		_, err := fmt.Fprintln(w, "value: none; the target of the link is missing or damaged")
		return written(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "value (%s):\n", c.As)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, it := range c.Items {
		if it.From != "" {
			fmt.Fprintf(t, "  %s\tpassed on from %s\n", printable(it.Name), printable(it.From))
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", printable(it.Name+"."+it.Ext), size(it.Size), printable(it.Text))
	}
	t.Flush()
	if c.Text != "" {
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(strings.TrimSuffix(c.Text, "\n"), "\n", "\n  "))
	}
	if c.Problem != "" {
		fmt.Fprintf(&b, "  cannot be read: %s\n", printable(c.Problem))
	}
	_, err := io.WriteString(w, b.String())
	return written(err)
}

func pinning(pinned bool) string {
	if pinned {
		return " (pins it)"
	}
	return ""
}

type descriptionJSON struct {
	recordJSON
	Code       string         `json:"code,omitempty"`
	Parts      []partJSON     `json:"parts"`
	LinkedFrom []string       `json:"linked_from"`
	Manifests  []manifestJSON `json:"manifests"`
	Value      *contentJSON   `json:"value"`
}

type partJSON struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Digest string `json:"digest"`
}

type manifestJSON struct {
	Name   string `json:"name"`
	Pinned bool   `json:"pinned"`
}

type contentJSON struct {
	As      string     `json:"as"`
	Text    string     `json:"text,omitempty"` // cut
	Items   []itemJSON `json:"items,omitempty"`
	Problem string     `json:"problem,omitempty"`
}

type itemJSON struct {
	Name   string `json:"name"`
	From   string `json:"from,omitempty"`
	Ext    string `json:"ext,omitempty"`
	Size   int64  `json:"size"`
	Shared bool   `json:"shared,omitempty"`
	Text   string `json:"text,omitempty"` // cut
}

func newDescriptionJSON(d inventory.Description) descriptionJSON {
	j := descriptionJSON{recordJSON: newRecordJSON(d.Record), Parts: []partJSON{}, LinkedFrom: []string{}, Manifests: []manifestJSON{}}
	for _, p := range d.Parts {
		j.Parts = append(j.Parts, partJSON{p.Kind, p.Name, p.Value, p.Digest.String()})
		if p.Kind == key.CodePart {
			j.Code = p.Value
		}
	}
	for _, k := range d.LinkedFrom {
		j.LinkedFrom = append(j.LinkedFrom, k.String())
	}
	for _, m := range d.Manifests {
		j.Manifests = append(j.Manifests, manifestJSON(m))
	}
	if c := d.Content; c != nil {
		j.Value = &contentJSON{As: c.As, Text: c.Text, Problem: c.Problem}
		for _, it := range c.Items {
			j.Value.Items = append(j.Value.Items, itemJSON(it))
		}
	}
	return j
}
