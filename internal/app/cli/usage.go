package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// words accepts from least to most arguments besides flags.
func words(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError{fmt.Errorf("missing argument; usage: %s", c.UseLine())}
		case len(args) > most:
			return usageError{fmt.Errorf("unexpected argument %q; usage: %s", args[most], c.UseLine())}
		}
		return nil
	}
}

// unknownCommand returns a better error if the first word is not a command.
func unknownCommand(root *cobra.Command, err error) error {
	var word string
	if err == nil || errors.As(err, new(usageError)) || errors.As(err, new(failure)) {
		return err
	}
	if _, serr := fmt.Sscanf(err.Error(), "unknown command %q", &word); serr != nil {
		return err
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usageError{fmt.Errorf("there is no command %q%s", word, component.Suggest(word, names))}
}

// flagError describes an error in a flag.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return usageError{unknownFlag(c, unknown)}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usageError{fmt.Errorf("%s: no value; give one after the flag", shownFlag(missing.GetFlag()))}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := wrong.GetFlag()
		if must := mustBe(flag.Value.Type(), wrong); must != "" {
			return usageError{fmt.Errorf("--%s %q: must be %s", flag.Name, wrong.GetValue(), must)}
		}
		return usageError{fmt.Errorf("--%s: %w", flag.Name, errors.Unwrap(wrong))}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return usageError{fmt.Errorf("%q is not a flag; write --NAME VALUE or --NAME=VALUE", wrong.GetSpecifiedFlag())}
	}
	return usageError{err}
}

func shownFlag(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return fmt.Sprintf("-%s, --%s", f.Shorthand, f.Name)
	}
	return "--" + f.Name
}

func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError) error {
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		return fmt.Errorf("there is no flag -%s; write arguments that begin with - after --", letters)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	err := fmt.Errorf("there is no flag --%s%s", display.Name(name), component.Suggest(name, names))
	if c.HasParent() {
		err = fmt.Errorf("%s: %w", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "), err)
	}
	return err
}

// mustBe describes the valid values of a type of flags, if a value is invalid.
func mustBe(typ string, err error) string {
	var number *strconv.NumError
	if !errors.As(err, &number) && !strings.Contains(err.Error(), "strconv.") { // some errors have no cause
		return ""
	}
	what := map[string]string{"bool": "true or false", "float64": "a number", "uint64": "a non-negative integer"}[typ]
	if what == "" {
		what = "an integer"
	}
	if errors.Is(err, strconv.ErrRange) {
		what += " of at most 64 bits"
	}
	return what
}

// missingFlags returns an error that names a missing required flag.
func missingFlags(c *cobra.Command) (err error) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if required := f.Annotations[cobra.BashCompOneRequiredFlag]; err == nil && !f.Changed && len(required) > 0 {
			err = usageError{fmt.Errorf("%s is required; usage: %s", shownFlag(f), c.UseLine())}
		}
	})
	return err
}
