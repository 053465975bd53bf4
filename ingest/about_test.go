package ingest

import (
	"testing"

	"hippocampus/internal/memory"
)

func TestAboutUser_FindsWhatIsSaidOfTheUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, said, want string }{
		{"Ana", "Ana is a nurse.", "Ana is a nurse."},
		{"Ana", "I moved. ana is a nurse. I am not.", "ana is a nurse. "},
		{"Ana", "Anabel is a nurse, and Banana too.", ""},
		{"Ana", "Ana is here. She likes tea. I like jazz. She sings.", "Ana is here. She likes tea. "},
		{"Ana", "Ana is here. Ben is too. He sings.", "Ana is here. "},
		{"Ana", "Ana is here. He met Ben.", "Ana is here. "},
		{"Ana", "Ana, I moved to Leeds.", ""},
		{"Ana", "I moved to Leeds, Ana.", ""},
		{"Ana", "Ana, you are allergic to nuts.", "Ana, you are allergic to nuts."},
		{"Ana", "Ana's dog is named Rex.", "Ana's dog is named Rex."},
		{"安娜", "安娜喜欢爬山。她是护士。我住在上海。", "安娜喜欢爬山。她是护士。"},
		{"安娜", "安娜，我搬到上海了。", ""},
		{"安娜", "我认识安娜。小本也认识。", "我认识安娜。"},
		{"a.*", "abc is a nurse.", ""},
		{"a.*", "a.* is a nurse.", "a.* is a nurse."},
		{"(", "( is a nurse.", "( is a nurse."},
		{"", "Somebody is a nurse.", ""},
	} {
		turn := memory.Turn{Shared: memory.Share{Turn: "t", Name: c.name}, Messages: []memory.Message{
			{Role: memory.RoleUser, Name: "Cleo", Content: c.said}, {Role: memory.RoleUser, Name: "Ben"},
			{Role: memory.RoleUser, Content: "Hello."},
		}}
		if got := aboutUser(turn, turn.Messages[0]); got != c.want {
			t.Errorf("%q says of %q: %q, want %q", c.said, c.name, got, c.want)
		}
	}
}
