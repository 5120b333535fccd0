package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/larder-data/larder/format/output"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages of all commands",
		Long: `Writes the manual pages of all commands to a directory, such as
/usr/local/share/man/man1. Existing pages are replaced.`,
		Args: words(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return failure{err}
			}
			c.Root().DisableAutoGenTag = true
			if err := writePages(c.Root(), args[0]); err != nil {
				return failure{err}
			}
			return nil
		},
	}
}

// writePages writes the pages of a command and its subcommands. It replaces a
// link with the name of a page, and not the target.
func writePages(c *cobra.Command, dir string) error {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			if err := writePages(sub, dir); err != nil {
				return err
			}
		}
	}
	f, err := output.Stage(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
	if err != nil {
		return err
	}
	defer f.Discard()
	at := built()
	if err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "Larder " + thisVersion().Version, Manual: "Larder", Date: &at}, f); err != nil {
		return err
	}
	return f.Publish(true)
}

// built returns the time of the program's commit, so that all pages of one
// build are equal. It returns the current time if the commit is unknown.
func built() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if at, err := time.Parse(time.RFC3339, s.Value); err == nil && s.Key == "vcs.time" {
				return at
			}
		}
	}
	return time.Now()
}
