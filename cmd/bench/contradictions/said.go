package contradictions

import "strings"

// inFirstPerson returns what a model has written of a user as the user would say it in a turn.
func inFirstPerson(statement string) string { return firstPerson.Replace(statement) }

// firstPerson has the phrases of ingest/judge/testdata/pairs.tsv.
var firstPerson = strings.NewReplacer(
	"用户", "我", "The user's ", "My ", "User's ", "My ", "User and Sofia ", "Sofia and I ", "The user has ", "I have ",
	"User has ", "I have ", "User is ", "I am ", "The user works ", "I work ", "User works ", "I work ", "User lives ",
	"I live ", "User now lives ", "I now live ", "User follows ", "I follow ", "User drinks ", "I drink ",
	"User doesn't ", "I don't ", "only drinks ", "only drink ", "User wants ", "I want ", "User prefers ", "I prefer ",
	"User can ", "I can ", "User changed their ", "I changed my ", "User just ", "I just ", "User left ", "I left ",
	"User started ", "I started ", "User worked ", "I worked ",
)
