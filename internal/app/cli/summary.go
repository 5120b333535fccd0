package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
)

// summaries are the writers of the closing table of a run, by file extension.
var summaries = map[string]func(io.Writer, *flow.Report) error{
	".csv": summaryCSV, ".json": summaryJSON, ".md": summaryMarkdown,
}

func summaryOf(file string) (func(io.Writer, *flow.Report) error, error) {
	if write := summaries[strings.ToLower(filepath.Ext(file))]; write != nil {
		return write, nil
	}
	return nil, fmt.Errorf("--summary %s: the name must end with .csv, .json or .md", file)
}

// A summaryRow is a machine-readable line of the closing table, in seconds and
// bytes.
type summaryRow struct {
	Node         string  `json:"node"`
	Samples      int64   `json:"samples"`
	Computed     int64   `json:"computed"`
	FromMemory   int64   `json:"from_memory"`
	FromStore    int64   `json:"from_store"`
	Failed       int64   `json:"failed"`
	Skipped      int64   `json:"skipped"`
	Seconds      float64 `json:"seconds"`
	SecondsSaved float64 `json:"seconds_saved"`
	BytesRead    int64   `json:"bytes_read"`
	BytesWritten int64   `json:"bytes_written"`
	MemoryReads  int64   `json:"memory_reads"`
	StoreReads   int64   `json:"store_reads"`
}

func summaryRows(r *flow.Report) []summaryRow {
	rows := []summaryRow{}
	for _, n := range r.Nodes {
		rows = append(rows, summaryRow{
			n.Name, n.Samples, n.Computed, n.FromMemory, n.FromStore, n.Failed, n.Skipped,
			n.Seconds, n.SecondsSaved, n.BytesRead, n.BytesWritten, n.MemoryReads, n.StoreReads,
		})
	}
	return rows
}

func summaryJSON(w io.Writer, r *flow.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(summaryRows(r))
}

func summaryCSV(w io.Writer, r *flow.Report) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"node", "samples", "computed", "from_memory", "from_store", "failed", "skipped", "seconds", "seconds_saved", "bytes_read", "bytes_written", "memory_reads", "store_reads"})
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, s := range summaryRows(r) {
		_ = c.Write([]string{
			s.Node, whole(s.Samples), whole(s.Computed), whole(s.FromMemory), whole(s.FromStore), whole(s.Failed), whole(s.Skipped),
			number(s.Seconds), number(s.SecondsSaved), whole(s.BytesRead), whole(s.BytesWritten), whole(s.MemoryReads), whole(s.StoreReads),
		})
	}
	c.Flush()
	return c.Error() // the error of Write, too
}

// summaryMarkdown writes a human-readable report: how the run ended, the table,
// and the skipped samples.
func summaryMarkdown(w io.Writer, r *flow.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s in %s\n\n", cell(r.Flow), r.Status, seconds(r.Seconds))
	if r.Error != "" {
		fmt.Fprintf(&b, "%s\n\n", cell(r.Error))
	}
	b.WriteString("| node | samples | computed | from memory | from store | time | saved | read | written |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, n := range r.Nodes {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", cell(n.Name), n.Samples, count(n.Computed), count(n.FromMemory), count(n.FromStore),
			secondsOrDot(n.Seconds), secondsOrDot(n.SecondsSaved), size(n.BytesRead), size(n.BytesWritten))
	}
	b.WriteString(rereadList(r.Nodes))
	if len(r.Skips) > 0 {
		fmt.Fprintf(&b, "\n%d %s skipped:\n\n", len(r.Skips), plural(int64(len(r.Skips)), "sample"))
		for _, s := range r.Skips[:min(len(r.Skips), maxSkips)] {
			fmt.Fprintf(&b, "- %s, sample %d: %s\n", cell(s.Node), s.Sample, cell(s.Error))
		}
		if more := len(r.Skips) - maxSkips; more > 0 {
			fmt.Fprintf(&b, "- and %d more\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rereadList lists the nodes whose samples were read repeatedly from memory or
// the store.
func rereadList(nodes []flow.NodeReport) string {
	var b strings.Builder
	for _, n := range nodes {
		if text := rereads(n); text != "" {
			fmt.Fprintf(&b, "%s- %s: %s\n", ifElse(b.Len() == 0, "\n", ""), cell(n.Name), text)
		}
	}
	return b.String()
}

// cell returns a string on one line of Markdown, with markup escaped.
func cell(text string) string {
	text = strings.Join(strings.Fields(printable(text)), " ")
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`", "<", "&lt;", "[", "\\[").Replace(text)
}

func (a *app) reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report FILE",
		Short: "Print the report of a run as Markdown",
		Args:  words(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			content, err := os.ReadFile(args[0])
			if err != nil {
				return usageError{err}
			}
			var r flow.Report
			if err := json.Unmarshal(content, &r); err != nil || r.Version != 1 || r.Status == "" {
				return usageError{fmt.Errorf("%s is not the report of a run; write one by larder run FLOW --report FILE", display.Name(args[0]))}
			}
			return written(summaryMarkdown(a.stdout, &r))
		},
	}
}
