package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/store/disk"
)

// A version describes a program and the format of its cache directories.
type version struct {
	Module   string `json:"module"`             // the path of its module
	Version  string `json:"version"`            // of the module; "(devel)" without a version
	Commit   string `json:"commit,omitempty"`   // "" if the build does not say
	Modified bool   `json:"modified,omitempty"` // sources differ from that commit
	Store    int    `json:"store"`              // the version of the format of cache directories
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisVersion() version {
	v := version{Version: "(unknown)", Store: disk.FormatVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Module, v.Version = info.Main.Path, cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String returns a human-readable line.
func (v version) String() string {
	text := fmt.Sprintf("larder %s", v.Version)
	if v.Commit != "" {
		text += ", commit " + v.Commit
	}
	if v.Modified {
		text += " with edits"
	}
	return fmt.Sprintf("%s, store version %d, %s, %s", text, v.Store, v.Go, v.Platform)
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the format of caches",
		Args:  words(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(a.stdout, thisVersion())
			}
			_, err := fmt.Fprintln(a.stdout, thisVersion())
			return written(err)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
