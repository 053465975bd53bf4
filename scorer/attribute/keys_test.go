package attribute

import (
	"strings"
	"testing"
)

// The sentences of facts claim the attribute that their key names in either language.
func TestOf_ReadsKeysInTwoLanguages(t *testing.T) {
	t.Parallel()
	for of, list := range map[string]struct{ names, values []string }{ // pairs of an English and a Chinese one
		home: {
			[]string{
				"home", "家", "city", "城市", "home city", "居住城市", "residence", "居住地", "location", "所在地",
				"city of residence", "住址",
			}, []string{"Berlin", "上海"},
		},
		employer: {[]string{"employer", "雇主", "company", "公司", "workplace", "工作单位"}, []string{"Google", "腾讯"}},
		job:      {[]string{"job", "职业", "occupation", "工作", "job title", "职位"}, []string{"nurse", "律师"}},
		relationship: {
			[]string{"relationship status", "感情状况", "marital status", "婚姻状况"}, []string{"married", "单身"},
		},
		diet: {[]string{"diet", "饮食", "eating habits", "饮食习惯"}, []string{"vegan", "生酮"}},
		language: {
			[]string{"preferred language", "首选语言", "language preference", "语言偏好"}, []string{"English", "中文"},
		},
	} {
		for i := 0; i < len(list.names); i += 2 {
			english := "The user's " + list.names[i] + " is " + list.values[0] + "."
			chinese := "用户的" + list.names[i+1] + "是" + list.values[1] + "。"
			if got, _ := Contradicted(Of(english), Of(chinese)); got != of {
				t.Errorf("%s %v, then %s %v: %q", english, Of(english), chinese, Of(chinese), got)
			}
		}
	}
}

// A key of another attribute claims nothing, and neither does a value that the attribute cannot have.
func TestOf_ReadsNoOtherKeys(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{
		"The user's hometown is Berlin.", "The user's favourite city is Rome.", "The user's role is nurse.",
		"The user's former employer is Google.",
		"The user's dream home is a cabin.", "The user's parents' home is Berlin.",
		"The user's location is unknown.", "The user's sister's city is Berlin.", "用户的老家是上海。", "用户的家乡是上海。",
		"用户的父母家是上海。", "用户的前公司是腾讯。", "用户的梦想职业是律师。", "用户的家是一个温暖的地方。",
		"用户的母语是德语。", "我的家是上海。", "Is the user's home Berlin?",
	} {
		if got := Of(statement); len(got) > 0 {
			t.Errorf("%s: %v", statement, got)
		}
	}
	for statement, want := range map[string]string{
		"The user's home is 柏林.": "home 柏林", "用户的家是Berlin。": "home berlin",
		"The user's work employer is Google.": "employer google", "用户的当前城市是上海。": "home 上海",
	} {
		if got := Of(statement); len(got) != 1 || got[0].Attribute+" "+strings.Join(got[0].Value, " ") != want {
			t.Errorf("%s: %v, want %s", statement, got, want)
		}
	}
}
