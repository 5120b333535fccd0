// Gen writes what package std embeds: lib.zip, the types of the standard
// library, and facts.txt, what its functions do. It is run in the folder of that
// package.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "folder of package std")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate makes the files, by name; dir holds what is kept by hand.
func generate(dir string) (map[string][]byte, error) {
	pkgs, err := load()
	if err != nil {
		return nil, err
	}
	lib, err := library(pkgs)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"lib.zip": lib}, nil
}
