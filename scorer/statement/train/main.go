// Command train makes the weights of package statement from the sentences in training/ and prints the results of a
// cross-validation. go generate runs it.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"hippocampus/scorer/statement"
)

func main() {
	examples := map[string][]statement.Example{} // by language
	for _, language := range []string{"en", "zh"} {
		if err := read("training/"+language+".tsv", examples); err != nil {
			log.Fatal(err)
		}
	}
	for language, list := range examples {
		fmt.Println(language, crossValidate(list))
		if err := os.WriteFile("weights_"+language+".tsv", statement.Train(list).Encode(), 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

// read adds the examples of a file to those of their language.
func read(name string, examples map[string][]statement.Example) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(content)) {
		e, err := statement.ParseExample(line)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		examples[e.Language()] = append(examples[e.Language()], e)
	}
	return nil
}

// crossValidate trains on nine tenths of the examples and reads the remaining tenth, ten times.
func crossValidate(examples []statement.Example) string {
	const folds = 10
	var statements, kept, inDomain, wrong float64
	for fold := range folds {
		var rest []statement.Example
		for i, e := range examples {
			if i%folds != fold {
				rest = append(rest, e)
			}
		}
		model := statement.Train(rest)
		for i := fold; i < len(examples); i += folds {
			e, reading := examples[i], model.Read(examples[i].Sentence)
			keeps := reading.Statement >= 0.5
			switch {
			case e.Label == statement.Fact:
				statements++
				if keeps {
					kept++
				}
				if keeps && reading.Domain == e.Domain {
					inDomain++
				}
			case e.Label == statement.Other && keeps:
				wrong++
			}
		}
	}
	return fmt.Sprintf("recall %.3f, precision %.3f, right domain %.3f", kept/statements, kept/(kept+wrong), inDomain/kept)
}
