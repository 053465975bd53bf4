package attribute

import (
	"strconv"
	"strings"

	"hippocampus/internal/grounding"
	"hippocampus/internal/lazyregexp"
)

// hanSubject matches the beginning of a Chinese clause up to its verb, if its subject is the user.
const hanSubject = `^(?:(?:我们全家|我全家|我们家|我们|我家|我|用户|本人|咱们|咱)(?:[和跟与]\p{Han}{1,4}?)??)?` +
	`(?:现在|目前|如今|眼下|已经|早已|刚刚|刚|最近|近来|上个月|上个星期|上个礼拜|上月|上周[一二三四五六日末]?|上星期|去年|今年|这个月|本月|昨天|今天|前天|` +
	`[一二三四五六七八九十\d]+月份?|终于|又|还是|依然|一直|正式|暂时|正在|在|开始|重新|再次|从\p{Han}{1,5}起|以后|今后|之后|都|全家|` +
	`总算|其实|因为工作|请你?|希望你?|想让你|更喜欢你?|喜欢你|最好|麻烦你?|可以|你可以|你|就|从|回到老家|坚持|改|主要|严格|跟|和)*`

func han(pattern string) *lazyregexp.Regexp { return lazyregexp.New(hanSubject + pattern) }

const number = `(\d{1,3}|[〇零一二两三四五六七八九十百]{1,5})`

var (
	hanUnlikely = lazyregexp.New(`翻译|以前|曾|过去|小时候|之前|那时|当年|原来|大学时|[\d一二三四五六七八九十]+年前|(?:19|20)\d\d年|想|希望|打算|` +
		`将来|准备|计划|如果|可能|也许|要是|过$|过[的了]|不住|没住|兼职|志愿|周末|业余|前男友|前女友|前妻|前夫|也`)

	hanLives  = han(`(?:住在|居住在|定居在?|现居|搬到了?|搬去了?|搬回了?|搬来了?|移居到?了?|住)(\p{Han}{2,8})`)
	hanHomeAt = lazyregexp.New(`^(?:(?:我家|我们家|用户家|家|用户的家)(?:现在)?在|` +
		`(?:我的|用户的)?(?:居住地|居住城市|所在城市|现居地)(?:现在)?是)(\p{Han}{2,6})`)
	hanIn  = han(`在?(\p{Han}{2,4})(?:定居|生活)了?$`)
	noHome = lazyregexp.New(`边|楼|层|附近|旁|宿舍|公寓|小区|一起|里$|郊|乡下|农村|房|父母|家|酒店|城市|在|的`)
	hanEnd = lazyregexp.New(`[了的，。和跟与]|定居|生活|工作|上班|居住`)

	hanWorks = han(`在(?:一家|一个|一所)?(?:叫)?([\p{Han}\p{L}\p{N}]{2,14}?)的?(?:\p{Han}{2}公司)?(?:上班|工作|任职|就职|做事|供职)了?$`)
	hanJoins = han(`(?:跳槽到了?|跳槽去了?|入职了?|加入了?|任职于|就职于|供职于|换到了?|转到了?|去了)([\p{Han}\p{L}\p{N}]{2,14}?)(?:工作|上班)?了?$`)
	hanCalls = lazyregexp.New(`叫([\p{Han}\p{L}\p{N}]{2,6}?)的`)
	noWork   = lazyregexp.New(`在|边|时候|时间|号线|地铁|市中心|附近|[楼层路街]$|家$|家里|线上|外地|国外|国内|晚上|夜里|努力|认真|一起|这里|那里|海外|电脑|健身|` +
		`社团|俱乐部|合唱团|部门|小组`)

	hanJob = han(`(?:是|当|做|当了|做了|成了|成为了?|升为|升任|担任|改行做|改行当|转行做了?|转行当了?|转行成了?|的职业是|的工作是|职业是|工作是|` +
		`职位是|现在是)(?:一?[名个位])?(\p{Han}{0,6}?(?:师|员|护士|医生|大夫|教授|经理|会计|律师|司机|工人|警察|记者|作家|编辑|教练|主管|总监|老板|` +
		`秘书|顾问|学家|画家|音乐家|艺术家|农民|军人|导演|歌手|学生|翻译|程序员|测试|设计|销售|运营|飞行员|主任|助理|出纳|保安|厨子|店长))了?$`)
	noJob      = lazyregexp.New(`[的来去找看被让给和跟请]`)
	hanTeaches = han(`在?\p{Han}{0,8}(?:当|做)(\p{Han}{0,4}(?:师|教师|医生|护士|工程师|厨师|会计|律师|经理))$`)

	hanNamed  = han(`(?:的?(?:名字|姓名|大名)(?:是|叫|改成|改为)|叫做?|名叫|改名为|改名叫|改叫|改名)(\p{Han}{2,4})$`)
	hanCallMe = han(`(?:叫|称呼|喊)我(\p{Han}{2,4})$`)
	noName    = lazyregexp.New(`^(?:去|来|起|吃|做|快|不|别|先|帮|把|给|开|回|上|下|出|进|了|车|外卖|我|你|他|她|醒|人|什么)|起床|吃饭`)

	hanAged   = han(`(?:满|刚满|是)?` + number + `(?:周?岁)了?$`)
	hanAgedBy = han(number + `了$`)
	hanAgeIs  = han(`的?年龄是?` + number)
	hanStatus = han(`(?:是|在|正在|办了?|领了?|和\p{Han}{1,4}?|跟\p{Han}{1,4}?|的|恢复|重新|上周\p{Han})*(单身|离婚|离异|丧偶|分手|订婚|` +
		`结婚|领证|已婚|谈恋爱|恋爱)`)
	hanPartner  = han(`的?(?:有了?|交了?|找到了?)?(?:一个)?(男朋友|女朋友|男友|女友|未婚夫|未婚妻)(?:叫|是|名叫|了|$)`)
	hanOthers   = lazyregexp.New(`哥|弟|姐|妹|爸|妈|父|母|儿子|女儿|朋友们|同事|邻居|叔|姨|舅|姑|表|堂`)
	hanStatusOf = map[string]string{"单身": "alone", "离婚": "alone", "离异": "alone", "丧偶": "alone", "分手": "alone",
		"订婚": "engaged", "未婚夫": "engaged", "未婚妻": "engaged", "结婚": "married", "领证": "married", "已婚": "married"}

	hanPhone = lazyregexp.New(`^(?:请?打)?(?:(?:我|用户)的?)?((?:新|工作|公司|家里|办公室|私人|备用)?的?)(?:手机号码?|手机|电话号码?|电话|` +
		`联系电话|号码)` +
		`(?:是|换成了?|改成了?|改为|变成了?|为|：|:)*\s*(\+?\d[\d -]{4,}\d)`)
	hanEmail = lazyregexp.New(`(?:^|[，。])(?:(?:我|用户)的?)?(?:现在|目前)?(?:用的|的)?((?:新|工作|公司|学校|私人|个人|` +
		`备用)?的?)(?:电子邮箱|电子邮件|邮箱|邮件)(?:地址)?` +
		`(?:现在)?(?:是|换成了?|改成了?|改为|变成了?|为|：|:)*\s*([\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.[a-zA-Z]+)`)

	hanDiet   = han(`(?:是|吃|平时|一直|为|成了?|变成|坚持|进行|饮食|的|了|\s|全|纯|在)*?(纯素|全素|严格素食|蛋奶素|吃素|素食|吃肉|什么都吃|不忌口|荤素都吃|生酮|不吃肉)`)
	hanDietOf = map[string]string{"纯素": "vegan", "全素": "vegan", "严格素食": "vegan", "蛋奶素": "vegetarian", "吃素": "vegetarian",
		"素食": "vegetarian", "不吃肉": "vegetarian", "生酮": "keto"}

	hanLanguage = lazyregexp.New(`(?:用|说|讲|以)(中文|汉语|普通话|国语|粤语|广东话|英文|英语|日文|日语|法语|法文|德语|德文|韩语|西班牙语|俄语|意大利语|` +
		`葡萄牙语|阿拉伯语)`)
	hanAddressed = lazyregexp.New(`请|希望|以后|今后|从现在|从今|你|回答|回复|跟我说|和我说|跟我讲|和我聊|跟我聊`)
	hanAnswers   = lazyregexp.New(`回答|回复|跟我|和我|(?:请|你).*(?:聊|交流|对话|沟通)`)
	hanOrders    = lazyregexp.New(`我用|我们用|让我|要我|我说|叫我用`)
	hanSame      = map[string]string{"汉语": "中文", "国语": "普通话", "广东话": "粤语", "英语": "英文", "日语": "日文", "法语": "法文", "德语": "德文"}
)

var (
	hanUser  = lazyregexp.New(`^(?:[\p{Han}]{0,4})?(?:我|用户|本人|咱)|叫我`)
	hanOther = lazyregexp.New(`^(?:可|但|而|不过)?(?:他|她|它|这|那|对方|人家|我(?:爸|妈|哥|弟|姐|妹|爷|奶|叔|老公|老婆|丈夫|妻子|儿子|` +
		`女儿|朋友|同事|表|堂))`)
	hanRenamed = lazyregexp.New(`改名`)
)

var hanClauseEnds = lazyregexp.New(`[，。；！,;!]`)

// ofChinese reads a Chinese statement clause by clause. A clause without a subject is about the user if the first
// clause is.
func ofChinese(statement string) (claims []Claim) {
	add := func(of, kind, value string) {
		if value != "" {
			claims = append(claims, Claim{of, kind, []string{strings.ToLower(value)}})
		}
	}
	stated := false // a clause has the user as its subject
	for i, c := range hanClauseEnds.Split(statement, -1) {
		c = strings.TrimSpace(c)
		explicit := hanUser.MatchString(c)
		stated = (stated || explicit) && !hanOther.MatchString(c)
		if i > 0 && !stated {
			continue
		}
		if !hanUnlikely.MatchString(c) {
			add(home, "", hanHome(c))
			add(employer, "", hanEmployer(c))
			add(job, "", hanOccupation(c))
			add(age, "", hanAge(c))
			add(relationship, "", hanRelationship(c))
			if m := hanDiet.FindStringSubmatch(c); m != nil {
				kind := hanDietOf[m[1]]
				if kind == "" {
					kind = "all"
				}
				add(diet, "", kind)
			}
		}
		ofUser := i == 0 || explicit || hanRenamed.MatchString(statement)
		if called := match(hanNamed, c); ofUser && !noName.MatchString(called) {
			add(name, "", called)
		}
		if called := match(hanCallMe, c); !noName.MatchString(called) {
			add(name, "what to call the user", called)
		}
		if m := hanPhone.FindStringSubmatch(c); m != nil {
			add(phone, hanKind(m[1]), digitsOf(m[2]))
		}
	}
	if m := hanEmail.FindStringSubmatch(statement); m != nil {
		add(email, hanKind(m[1]), strings.ToLower(m[2]))
	}
	if m := hanLanguage.FindStringSubmatch(statement); m != nil && hanAddressed.MatchString(statement) &&
		hanAnswers.MatchString(statement) && !hanOrders.MatchString(strings.ReplaceAll(statement, "跟我说", "")) {
		wanted := m[1]
		if same := hanSame[wanted]; same != "" {
			wanted = same
		}
		add(language, "", wanted)
	}
	return claims
}

func hanKind(adjective string) string {
	return strings.TrimPrefix(strings.TrimSuffix(adjective, "的"), "新")
}

func hanHome(c string) string {
	for _, pattern := range []*lazyregexp.Regexp{hanLives, hanHomeAt, hanIn} {
		value := match(pattern, c)
		if end := hanEnd.FindStringIndex(value); end != nil {
			value = value[:end[0]]
		}
		if len([]rune(value)) > 1 && !noHome.MatchString(value) {
			return value
		}
	}
	return ""
}

func hanEmployer(c string) string {
	for _, pattern := range []*lazyregexp.Regexp{hanJoins, hanWorks} {
		if at := match(pattern, c); at != "" && !noWork.MatchString(at) && !grounding.IsPlace(at) {
			return at
		}
	}
	if strings.HasSuffix(c, "工作") {
		return match(hanCalls, c)
	}
	return ""
}

func hanOccupation(c string) string {
	for _, pattern := range []*lazyregexp.Regexp{hanJob, hanTeaches} {
		value := []rune(match(pattern, c))
		if len(value) > 0 && !noJob.MatchString(string(value)) {
			return string(value[max(0, len(value)-4):])
		}
	}
	return ""
}

func hanAge(c string) string {
	for _, pattern := range []*lazyregexp.Regexp{hanAged, hanAgedBy, hanAgeIs} {
		if m := pattern.FindStringSubmatch(c); m != nil {
			if years, ok := grounding.Number(m[1]); ok && years >= 5 && years <= 120 {
				return strconv.Itoa(years)
			}
		}
	}
	return ""
}

func hanRelationship(c string) string {
	for _, pattern := range []*lazyregexp.Regexp{hanStatus, hanPartner} {
		m := pattern.FindStringSubmatch(c)
		if m == nil || hanOthers.MatchString(c) {
			continue
		}
		if known := hanStatusOf[m[1]]; known != "" {
			return known
		}
		return "partner"
	}
	return ""
}
