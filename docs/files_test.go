package docs_test

import (
	"go/build"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	pathForm   = regexp.MustCompile(`^(\./|\.)?[a-z_][a-z0-9_.-]*(/[a-z0-9_][a-z0-9_.-]*)*(/|/\.\.\.)?$`)
	sourceFile = regexp.MustCompile(`\w\.(go|py)$`)
	moduleForm = regexp.MustCompile(`^_[a-z]+$`)
)

// TestNamedFilesExist: files and folders that the text of a page names are there, from
// the root, from the page, or beside one that the same section names. Other pages than
// those on the code name folders of users, too, so there a folder counts that begins as
// one of the root does.
func TestNamedFilesExist(t *testing.T) {
	modules := read(t, "../go.mod") + read(t, "../bench/go.mod") + read(t, "../place/cloud/go.mod")
	for _, p := range everyPage(t) {
		onCode := !strings.HasPrefix(p.name, "docs"+string(filepath.Separator)) && filepath.Dir(p.name) == "."
		s := section{page: filepath.Join("..", filepath.Dir(p.name))}
		for _, par := range p.paragraphs() {
			s.enter(par.heading)
			for _, span := range par.spans {
				begin, _, isPath := strings.Cut(strings.TrimPrefix(span, "./"), "/")
				switch {
				case moduleForm.MatchString(span) && s.hasModules():
				case !pathForm.MatchString(span):
					continue
				case !sourceFile.MatchString(span) && (!isPath || !onCode && !there(filepath.Join("..", begin))):
					s.find(span) // a folder, beside which others are
					continue
				}
				if span = strings.TrimSuffix(span, "/..."); !s.find(span) && !strings.Contains(modules, span) &&
					!there(filepath.Join(build.Default.GOROOT, "src", span)) && !strings.Contains(p.code(), span) {
					t.Errorf("%s:%d: there is no %s, from the root or beside what this section names", p.name, par.line, span)
				}
			}
		}
	}
}

// A section knows where the files may be that it names.
type section struct {
	page, heading string
	places        []string
}

func (s *section) enter(heading string) {
	if s.places == nil || heading != s.heading {
		s.heading, s.places = heading, []string{"..", s.page}
	}
}

// find reports whether there is such a file, and goes on from its folder.
func (s *section) find(name string) bool {
	for _, place := range s.places {
		file := filepath.Join(place, name)
		if there(file + ".py") {
			file += ".py"
		}
		if info, err := os.Stat(file); err == nil {
			if !info.IsDir() {
				file = filepath.Dir(file)
			}
			if there(filepath.Join(file, "__init__.py")) { // modules are named with packages beside them
				s.places = append(s.places, filepath.Dir(file))
			}
			s.places = append(s.places, file)
			return true
		}
	}
	return false
}

// hasModules reports whether names may be modules of the package for Python.
func (s *section) hasModules() bool {
	return slices.ContainsFunc(s.places[2:], func(place string) bool { return strings.HasPrefix(filepath.ToSlash(place), "../python/src") })
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
