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
		Short: "Print a flow (- for standard input) as one file, or its fingerprint",
		Long: `Prints a flow as one file for its folder: variables have the values that they are
given (epoch, which loaders set, stays a variable if it is not), nodes that were included are there, and so are the variants of a sweep.
Parameters that are what they are by themselves are left out.

A fingerprint names what the flow says of the data of its sinks (without one, of
its last checkpoints), or of the nodes that --only names: what cannot change the
data does not count.`,
		Args: words(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return a.flow(args[0], f) },
	}
	f.set.flags(c)
	f.from.flags(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON, in which ${ is text, for programs")
	c.Flags().BoolVar(&f.fingerprint, "fingerprint", false, "print the fingerprint")
	c.Flags().StringArrayVar(&f.only, "only", nil, "with --fingerprint: that of this `node`; may be repeated")
	return c
}

func (a *app) flow(file string, f flowFlags) error {
	if f.json && f.fingerprint || len(f.only) > 0 && !f.fingerprint {
		return usageError{errors.New("--json does not go with --fingerprint, and --only goes with it")}
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
