package server

import (
	"errors"
	"fmt"

	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
)

// A function is a function of the client whose results are cached.
type function struct {
	op *key.Op
}

// functionRequest is the body of `function`.
type functionRequest struct {
	Name string `json:"name"`
	// Code is the identity of its code: a version given by its author, or a digest
	// of all that it reaches. The client sends the parts for explanations before
	// the first computation, so a client that only reads cached results need not
	// wait for them.
	Code struct {
		Version string     `json:"version"`
		Digest  string     `json:"digest"`
		Parts   []codePart `json:"parts"`
	} `json:"code"`
}

type codePart struct {
	Name   string `json:"name"`
	Where  string `json:"where"`
	Digest string `json:"digest"`
}

// pythonNamespace is the namespace of these functions in keys: their identities and versions
// are unrelated to those of Go.
const pythonNamespace = "python"

// maxFunctions bounds the functions of a connection.
const maxFunctions = 1 << 16

// function registers a function and sends its number to the client.
func (c *conn) function(body []byte) error {
	var r functionRequest
	if err := decode(body, &r); err != nil {
		return requestError{fmt.Errorf("function: %w", err)}
	}
	if len(c.functions) >= maxFunctions {
		return requestError{errors.New("function: there are too many; connect again")}
	}
	code, err := r.code(c)
	if err != nil {
		return requestError{fmt.Errorf("function: %w", err)}
	}
	op, err := key.NewOp(r.Name, code)
	if err != nil {
		return requestError{fmt.Errorf("function: %w", err)}
	}
	c.functions = append(c.functions, &function{op})
	return c.reply(kindFunctioned, map[string]int{"function": len(c.functions) - 1})
}

// code returns the function's code identity for keys. It stores the parts, if
// given, for a later comparison.
func (r *functionRequest) code(c *conn) (key.Code, error) {
	if r.Code.Version != "" {
		return key.VersionOf(pythonNamespace, r.Code.Version), nil
	}
	id, err := key.ParseDigest(r.Code.Digest)
	if err != nil {
		return key.Code{}, err
	}
	code := key.Code{Kind: string(analysis.Precise), ID: id.String(), Package: pythonNamespace}
	if r.Code.Parts == nil {
		return code, nil
	}
	parts := make([]analysis.Part, len(r.Code.Parts))
	for i, p := range r.Code.Parts {
		parts[i] = analysis.Part{Name: p.Name, Where: p.Where}
		if parts[i].Digest, err = key.ParseDigest(p.Digest); err != nil {
			return key.Code{}, err
		}
	}
	if err := known.KeepClosure(c.ctx, c.server.options.Larder, &analysis.Closure{ID: id, Parts: parts}); err != nil {
		return key.Code{}, err
	}
	return code, nil
}
