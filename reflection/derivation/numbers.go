package derivation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hippocampus/internal/memory"
)

// Numbers are numbers of memories in an answer, counted from 1 and in any form: a list or a single one, as numbers or
// as strings.
type Numbers struct {
	All   []int    // without repeats
	Wrong []string // values that are no numbers, as the model wrote them
}

const maxWrong = 20 // characters of a wrong number in an error

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It fails only for malformed JSON.
func (n *Numbers) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil || value.Kind() == 'n' {
		return err
	}
	list := []jsontext.Value{value.Clone()}
	if value.Kind() == '[' {
		if err := json.Unmarshal(value, &list); err != nil {
			return err
		}
	}
	for _, one := range list {
		number, err := strconv.Atoi(strings.TrimSpace(strings.Trim(string(one), `"`)))
		switch {
		case err != nil:
			n.Wrong = append(n.Wrong, memory.Clip(string(one), maxWrong))
		case !slices.Contains(n.All, number):
			n.All = append(n.All, number)
		}
	}
	return nil
}

// Cited returns the memories that the numbers cite, at least one. Its error says what is wrong with the numbers.
func (n Numbers) Cited(memories []memory.Memory) (found []memory.Memory, err error) {
	if len(n.Wrong) > 0 {
		return nil, fmt.Errorf("cites %s, which is no number", n.Wrong[0])
	}
	if len(n.All) == 0 {
		return nil, errors.New("cites no source")
	}
	for _, number := range n.All {
		if number < 1 || number > len(memories) {
			return nil, fmt.Errorf("cites the number %d of %d", number, len(memories))
		}
		found = append(found, memories[number-1])
	}
	return found, nil
}
