// Package process ends what programs that were started have left: processes of their group,
// and those that left it and can be told by what they were given.
package process
