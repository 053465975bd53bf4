package text_test

import (
	"fmt"

	"hippocampus/internal/text"
)

// Two texts match if they share a lexeme, also in different forms of a word.
func ExampleLexemes() {
	fmt.Printf("%q\n", text.Lexemes("Caroline's 2 dogs don't like running"))
	fmt.Printf("%q\n", text.Lexemes("我在上海"))
	// Output:
	// ["carolin" "2" "dog" "not" "like" "run"]
	// ["我在" "在上" "上海"]
}
