package pathguard

import (
	"fmt"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// Inputs and outputs may be at URLs. URLs are compared by their spelling only: no
// server is contacted, and there are no links.

// divide separates local outputs from those at URLs.
func divide(outputs []Output) (here, far []Output) {
	for _, o := range outputs {
		if urlpath.Is(o.Path) {
			far = append(far, o)
		} else {
			here = append(here, o)
		}
	}
	return here, far
}

// checkFar refuses outputs at URLs that are, are inside, or contain an input. A remote
// directory is a prefix of names, and everything in it may be read.
func (in *Inputs) checkFar(outputs []Output) error {
	if len(outputs) == 0 {
		return nil
	}
	at := make([]string, len(outputs))
	for i, o := range outputs {
		at[i] = urlpath.Spelled(o.Path)
	}
	for _, read := range in.List() {
		if !urlpath.Is(read.Path) {
			continue
		}
		from := urlpath.Spelled(read.Path)
		for i, o := range outputs {
			if urlpath.Within(from, at[i]) || urlpath.Within(at[i], from) {
				return fmt.Errorf("refusing to write to %s (%s): %s reads %s (%w)", shownFar(o.Path), o.Owner, read.Owner, shownFar(read.Path), ErrConflict)
			}
		}
	}
	return nil
}

func apartFar(outputs []Output) error {
	owner := map[string]string{}
	for _, o := range outputs {
		at := urlpath.Spelled(o.Path)
		if other, ok := owner[at]; ok {
			return fmt.Errorf("%s and %s would both write %s; choose another place for one", other, o.Owner, shownFar(o.Path))
		}
		owner[at] = o.Owner
	}
	return nil
}

func shownFar(path string) string { return display.Name(urlpath.Name(path)) }
