package pathguard

import (
	"os"
	"path/filepath"
	"strings"
)

// An overlay shows directories, its layers, as one. Writes go to the upper layer.
type overlay struct {
	mount
	upper  string // "" if read-only
	lowers []string
}

// overlays lists the overlays with the layers that are visible here. Those of a
// container's own root are not.
func overlays(all []mount) (found []overlay) {
	for _, m := range all {
		if m.kind != "overlay" {
			continue
		}
		o := overlay{mount: m}
		for option := range strings.SplitSeq(m.options, ",") {
			name, value, _ := strings.Cut(unescape(option), "=")
			switch name {
			case "upperdir":
				o.upper = layer(value)
			case "lowerdir", "lowerdir+":
				for _, path := range splitLayers(value) {
					if at := layer(path); at != "" {
						o.lowers = append(o.lowers, at)
					}
				}
			}
		}
		if o.upper != "" || o.lowers != nil {
			found = append(found, o)
		}
	}
	return found
}

// splitLayers splits text at each colon that is not preceded by \.
func splitLayers(text string) (parts []string) {
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ':':
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// layer returns the directory in an option, or "" if there is none.
func layer(text string) string {
	path := strings.ReplaceAll(text, `\`, "")
	if info, err := os.Stat(path); err != nil || !info.IsDir() || !filepath.IsAbs(path) {
		return ""
	}
	return Resolve(path)
}

// maxPlaces bounds the locations of one path, because layers may be in overlays.
const maxPlaces = 64

// places lists the locations of a real path: itself, and those in the layers of
// overlays. For a path to write, only upper layers count.
func (c *check) places(real string, written bool) []string {
	all := []string{real}
	for i := 0; i < len(all) && len(all) < maxPlaces && len(c.overlays) > 0; i++ {
		path := original(all[i], c.mounts)
		over := mountOf(path, c.mounts)
		for _, o := range c.overlays {
			if o.mount != over {
				continue
			}
			for _, at := range o.layers(written) {
				rel, err := filepath.Rel(o.path, path)
				if err == nil {
					all = append(all, filepath.Join(at, o.root, rel))
				}
			}
		}
	}
	return all
}

// layers returns the layers that the overlay shows, or the one that it writes to.
func (o overlay) layers(written bool) (paths []string) {
	if o.upper != "" {
		paths = append(paths, o.upper)
	}
	if !written {
		paths = append(paths, o.lowers...)
	}
	return paths
}
