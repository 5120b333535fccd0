package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

type flowFlags struct {
	set         variables
	from        flowFile
	json        bool
	fingerprint bool
	only        []string
}

func (a *app) flowCommand() *cobra.Command {
	var f flowFlags
	c := &cobra.Command{
		Use:   "flow FLOW",
		Short: "Print a flow as one file, or its fingerprint",
		Long: `Prints a flow (- for standard input) as one file for its directory. Variables are
replaced by their values, but epoch stays a variable unless it has a value. Included nodes
and the variants of a sweep are part of the file. Parameters with default values
are omitted.

A fingerprint identifies the settings that determine the data of the sinks
(without sinks, of the last checkpoints), or of the nodes of --only. Settings that
cannot change the data do not count.`,
		Args: words(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.flow(args[0], f) },
	}
	f.set.flags(c)
	f.from.flags(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, in which ${ has no special meaning")
	c.Flags().BoolVar(&f.fingerprint, "fingerprint", false, "print the fingerprint")
	c.Flags().StringArrayVar(&f.only, "only", nil, "with --fingerprint: the fingerprint of this `node`; may be repeated")
	return c
}

func (a *app) flow(file string, f flowFlags) error {
	if f.json && f.fingerprint || len(f.only) > 0 && !f.fingerprint {
		return usageError{errors.New("--fingerprint: not allowed with --json; --only requires --fingerprint")}
	}
	fl, err := f.from.parse(a, file, f.set)
	if err != nil {
		return err
	}
	var text []byte
	switch {
	case f.fingerprint:
		d, err := fl.Fingerprint(f.only...)
		if err != nil {
			return usageError{err}
		}
		text = []byte(d.String() + "\n")
	case f.json:
		text, err = fl.JSON()
		text = append(text, '\n')
	default:
		text, err = fl.YAML()
	}
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", file, err)}
	}
	_, err = a.stdout.Write(text)
	return written(err)
}
