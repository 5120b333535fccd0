package embedproxy

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/larder-data/larder/array"
)

// An Embedding is the cached result for an input.
type Embedding struct {
	Model string // as named in the upstream's answer
	// Vector has one dimension. Its type is float32 if the upstream sent base64, or
	// only numbers that float32 represents exactly; otherwise float64.
	Vector array.Array
}

// usage is the upstream's count of charged tokens.
type usage struct {
	PromptTokens int64 `json:"prompt_tokens"`
	TotalTokens  int64 `json:"total_tokens"`
}

// parseAnswer parses and checks the upstream's answer to n inputs. It needs a
// vector of finite numbers for each, all of one length. The length must be the
// requested one, unless dimensions is 0.
func parseAnswer(body []byte, n, dimensions int) ([]Embedding, usage, error) {
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, usage{}, errors.New("it is not the JSON of a list of embeddings")
	}
	if len(answer.Data) != n {
		return nil, usage{}, fmt.Errorf("it has %d vectors for %d inputs", len(answer.Data), n)
	}
	if answer.Usage.PromptTokens < 0 || answer.Usage.TotalTokens < 0 {
		return nil, usage{}, errors.New("its usage is negative")
	}
	all, have := make([]Embedding, n), make([]bool, n)
	for _, d := range answer.Data {
		if d.Index == nil || *d.Index < 0 || *d.Index >= n || have[*d.Index] {
			return nil, usage{}, errors.New("the indexes of its vectors are not those of the inputs")
		}
		i := *d.Index
		v, err := parseVector(d.Embedding)
		if err != nil {
			return nil, usage{}, fmt.Errorf("vector %d: %w", i, err)
		}
		all[i], have[i] = Embedding{answer.Model, v}, true
	}
	for i, e := range all {
		if length, first := e.Vector.Len(), all[0].Vector.Len(); length != first {
			return nil, usage{}, fmt.Errorf("vector %d has %d numbers, and vector 0 has %d", i, length, first)
		} else if dimensions > 0 && length != dimensions {
			return nil, usage{}, fmt.Errorf("its vectors have %d numbers, and not %d dimensions", length, dimensions)
		}
	}
	return all, answer.Usage, nil
}

// parseVector parses a list of numbers, or float32s in base64.
func parseVector(raw json.RawMessage) (array.Array, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var data []byte
		if err := json.Unmarshal(raw, &data); err != nil || len(data) == 0 || len(data)%4 != 0 {
			return array.Array{}, errors.New("its text is not base64 of float32s")
		}
		for at := 0; at < len(data); at += 4 {
			if f := float32At(data, at); math.IsNaN(f) || math.IsInf(f, 0) {
				return array.Array{}, fmt.Errorf("number %d is not finite", at/4)
			}
		}
		return array.Array{DType: array.Float32, Shape: []int{len(data) / 4}, Data: data}, nil
	}
	if len(raw) < 2 || raw[0] != '[' {
		return array.Array{}, errors.New("it is neither a list of numbers nor base64")
	}
	var doubles, singles []byte
	exact := true // float32 represents all numbers
	for part := range bytes.SplitSeq(raw[1:len(raw)-1], []byte{','}) {
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(part)), 64)
		if err != nil {
			return array.Array{}, fmt.Errorf("number %d is not a finite number", len(doubles)/8)
		}
		if math.Abs(f) > math.MaxFloat32 {
			return array.Array{}, fmt.Errorf("number %d is larger than a float32 can be", len(doubles)/8)
		}
		exact = exact && float64(float32(f)) == f
		doubles = binary.LittleEndian.AppendUint64(doubles, math.Float64bits(f))
		singles = binary.LittleEndian.AppendUint32(singles, math.Float32bits(float32(f)))
	}
	if exact {
		return array.Array{DType: array.Float32, Shape: []int{len(singles) / 4}, Data: singles}, nil
	}
	return array.Array{DType: array.Float64, Shape: []int{len(doubles) / 8}, Data: doubles}, nil
}

func float32At(data []byte, at int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at:])))
}

func float64At(data []byte, at int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(data[at:]))
}

// appendNumbers appends the vector as a list of numbers that read back as the same
// float64s.
func appendNumbers(dst []byte, v array.Array) []byte {
	size, at := v.DType.Size(), float32At
	if v.DType == array.Float64 {
		at = float64At
	}
	dst = append(dst, '[')
	for i := 0; i < len(v.Data); i += size {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, at(v.Data, i), 'g', -1, 64)
	}
	return append(dst, ']')
}

// appendBase64 appends the vector as base64 of float32s.
func appendBase64(dst []byte, v array.Array) []byte {
	data := v.Data
	if v.DType == array.Float64 {
		data = make([]byte, 0, len(v.Data)/2)
		for i := 0; i < len(v.Data); i += 8 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(float64At(v.Data, i))))
		}
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), data), '"')
}
