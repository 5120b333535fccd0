package pathguard

import (
	"os"
	"path/filepath"
	"strings"
)

// An overlay shows folders, its layers, as one. What is written there goes to
// the upper of them.
type overlay struct {
	mount
	upper  string // "" if nothing can be written
	lowers []string
}

// overlays lists the overlays with the layers that can be seen from here: those
// of a container's own root cannot.
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

// splitLayers splits a text at each colon that has no \ before it.
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

// layer returns the folder that an option names, "" if there is none.
func layer(text string) string {
	path := strings.ReplaceAll(text, `\`, "")
	if info, err := os.Stat(path); err != nil || !info.IsDir() || !filepath.IsAbs(path) {
		return ""
	}
	return Resolve(path)
}

// maxPlaces bounds the places of one path, as layers may lie in overlays.
const maxPlaces = 64

// places lists where what lies at a real path is: there, and in the layers of
// overlays. Of what is to be written only the upper ones count.
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

// layers are those that show what is in the overlay, or that what is written
// goes to.
func (o overlay) layers(written bool) (paths []string) {
	if o.upper != "" {
		paths = append(paths, o.upper)
	}
	if !written {
		paths = append(paths, o.lowers...)
	}
	return paths
}
