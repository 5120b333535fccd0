package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/codec"
)

func (a *app) formatsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "formats",
		Short: "List the formats of items and their decoders",
		Args:  words(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeFormatsJSON(a)
			}
			t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "format\textensions\tdecoder in keys")
			for _, c := range codec.All() {
				fmt.Fprintf(t, "%s\t%s\t%s\n", c.Name, strings.Join(c.Extensions, " "), c.ID())
			}
			return t.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func writeFormatsJSON(a *app) error {
	type entry struct {
		Name       string   `json:"name"`
		Extensions []string `json:"extensions"`
		Decoder    string   `json:"decoder"`
		ReadOnly   bool     `json:"read_only,omitempty"`
	}
	all := []entry{}
	for _, c := range codec.All() {
		all = append(all, entry{c.Name, c.Extensions, c.ID(), c.ReadOnly})
	}
	return writeJSON(a.stdout, all)
}
