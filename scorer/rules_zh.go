package scorer

import "hippocampus/internal/memory"

// Building blocks of the Chinese patterns.
const (
	zhAdverb = `(?:也|很|最|特别|非常|比较|超级?|一直|真的|其实|还是|更|挺|平时|从小就?|就|只|都|越来越|不|不太|不怎么|并不|从来不?|现在|目前|以前|之前|刚|刚刚|` +
		`已经|终于|最近|今年|马上|还|曾经?|原来|本来|主要|个人|去年|前年|昨天|上个?(?:月|周|星期)|[两三四五]年前)*`
	zhKin = `(?:老婆|老公|妻子|丈夫|太太|爱人|对象|男朋友|女朋友|男友|女友|未婚[妻夫]|爸爸?|妈妈?|父亲|母亲|父母|爸妈|哥哥?|姐姐?|弟弟?|妹妹?|` +
		`[表堂][哥姐弟妹]|儿子|女儿|孩子|宝宝|双胞胎|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔叔|阿姨|舅舅|姑姑|岳父|岳母|公公|婆婆|侄[子女]|外甥女?|` +
		`朋友|闺蜜|室友|同事|同学|邻居|猫|狗|宠物|兔子|鹦鹉|仓鼠|金毛|柯基|布偶|橘猫)`
	zhJob = `(?:工程师|程序员|老师|教师|教授|医生|护士|律师|学生|研究生|博士|硕士|本科生|大[一二三四]|高[一二三]|研究员|科学家|经理|会计|作家|记者|编辑|` +
		`设计师|画家|音乐人|摄影师|厨师|司机|飞行员|建筑师|分析师|顾问|创始人|自由职业|产品|运营|销售|前端|后端|测试|实习生|翻译|公务员|警察|军人|店主|老板|教练|咖啡师|药剂师|兽医|架构师)`
	zhDate = `(?:明天|明晚|明早|后天|下个?(?:周|星期|礼拜|月|学期|季度)|这个?(?:周[一二三四五六日天末]|星期[一二三四五六日天]|月底)|本周|周[一二三四五六日天末]|星期[一二三四五六日天]|` +
		`明年|后年|年底|年初|月底|月初|[0-9一二三四五六七八九十]{1,3}月|\d{1,2}[日号]|\d{4}[-/.]\d|国庆|春节|元旦|五一|端午|中秋|暑假|寒假|圣诞|` +
		`\d{1,2}点|[一二三四五六七八九十两]+点|[0-9一二三四五六七八九十两]+(?:天|周|个?月|年|小时)(?:后|以后|之后|内))`
	zhIntent = `(?:要|得|打算|准备|计划|将|会|约|预约|订|定|安排|想去|考试?|去|飞|回|出差|开会|面试|截止|到期|交|搬|结婚|手术|参加|旅[行游]|入职|答辩|体检|复诊|毕业|演讲|比赛)`
)

var chinese = compile(language{
	command:  `(?:^|[，,。 ])(?:请|麻烦)?(?:你)?(?:一定要?|务必|要|帮我)?(?:记住|记得|记一下|记下来?|别忘了?|不要忘记)`,
	question: `[?？]["”」]*$|[吗么嘛]$|呢$|^(?:请问|为什么|怎么|如何|什么|哪|谁|几|多少|能不能|可不可以|有没有|是不是)|(?:能不能|可不可以|要不要|是不是|有没有|会不会|为啥|咋办)`,
	tail:     `[，,。 ](?:你|那|请问|有|能|可以|是|怎么|什么|哪|该|对|多少|为什么|应该|会|要|吃|去)[^，,。]*(?:[?？]["”」]*|[吗呢嘛])$`,
	secret:   `密码|口令|密钥|银行卡号|信用卡号|身份证号|验证码`,
	refuse: []string{
		`^(?:你好|您好|嗨|哈喽|早上好|早安|晚上好|晚安|下午好|早|谢谢|多谢|感谢|再见|拜拜|好的?|嗯+|哦+|噢|行|可以|是的|对|对的|没事|不客气|哈哈+|` +
			`呵呵|收到|明白了?|知道了|了解|辛苦了|厉害|不错|真棒|太好了|没问题|不用了?|算了)(?:你|您|啊|呀|啦|了|哦|哈|吧|呢|的|大家|朋友|[！!。，,~～ ])*$`,
		`^(?:请|麻烦你?|你|可以|能)?(?:再)?(?:帮我|给我|替我|告诉我|教我|写|翻译|解释|推荐|介绍|讲|说说|列|总结|生成|画|查|搜|分析)`,
		`我(?:想|要)(?:问|请教|知道|了解|让你|请你)|我需要(?:你|帮)|我有(?:一)?个?问题|我想请`,
		`如果|假如|要是|假设|倘若|万一|也许|或许|说不定|可能会?|想象一下|我希望|但愿|要不然|就好了`,
		`我(?:也)?(?:不知道|不确定|不清楚|不明白|不懂|不太懂|没想好|无所谓|随便|觉得还?行|明白了?|知道了?|懂了?|理解|同意|猜|没事|没意见|忘了)`,
		`我(?:喜欢|爱|讨厌)(?:你|您|它|这个|那个|这样|那样)(?:[^的]|$)`,
	},
	patterns: []pattern{
		// Who the user is.
		{
			says:   `我` + zhAdverb + `叫|我的?(?:名字|姓名|英文名|网名|小名)(?:是|叫)|我姓|(?:请|可以|都|就|以后|大家)叫我`,
			unless: `叫我(?:起床|一声|去|来|吃|过)|我叫(?:了|他|她|你|车|外卖|不)`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says: `我` + zhAdverb +
				`(?:\d{1,3}|[一二三四五六七八九十]{1,3})岁|我的?生日|我是?(?:\d{4}|\d{2})年(?:出生|生|的)|我属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|` +
				`我的?(?:母语|血型|星座)`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},
		{
			says:   `我.{0,8}过敏|我(?:乳糖|麸质)不耐|我` + zhAdverb + `(?:不能|不可以|没法)(?:吃|喝|碰)|我` + zhAdverb + `(?:吃素|素食|是素食)`,
			unless: `不过敏|没有过敏`,
			domain: memory.Preferences, kind: aFact, importance: vital,
		},

		// What the user likes.
		{
			says:   `我(?:们)?` + zhAdverb + `(?:喜欢|爱[吃喝看听玩好上]|爱|讨厌|偏爱|偏好|热爱|钟爱|受不了|反感|迷上|痴迷|害怕|怕|吃不惯|喝不惯|习惯)`,
			unless: `可爱|爱人|恋爱|怕(?:是|你)`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},
		{
			says: `我的?最爱|我最?(?:喜欢|爱)的|我的?(?:爱好|兴趣|口味|偶像|偏好)|我` + zhAdverb +
				`(?:不吃|不喝|不抽烟|不喝酒|对.{1,8}感兴趣|对.{1,8}没兴趣)`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},
		{
			says:   `(?:以后|今后)(?:都|请|就|别|不要|回答|回复|跟我)|(?:请|你)(?:一直|始终|尽量|都)(?:用|说)|回答(?:时|的时候)?(?:请|要|尽量)`,
			domain: memory.Preferences, kind: aPreference, importance: strong,
		},

		// Work and study.
		{
			says:   `我` + zhAdverb + `在.{1,20}(?:工作|上班|做|当|任职|实习|读|念|上学|教|打工|创业|就职|担任|学习)`,
			unless: `做(?:饭|菜|梦|家务|作业|什么)`,
			domain: memory.Profession, kind: aFact, importance: vital,
		},
		{
			says:   `(?:我|本人)(?:的?职业)?` + zhAdverb + `(?:是|当|做)(?:一?[名个位])?(?:\S{0,12})` + zhJob + `|本人` + zhJob,
			domain: memory.Profession, kind: aFact, importance: vital,
		},
		{
			says:   `我们?的?(?:工作|职业|专业|公司|老板|领导|团队|岗位|部门|项目|论文|导师|学校|研究方向|毕业设计)(?:是|叫|在|做|要|有|主要|需要|的)`,
			domain: memory.Profession, kind: aFact, importance: strong,
		},
		{
			says: `我` + zhAdverb +
				`(?:在)?(?:学|读|主修|攻读|毕业|考上|考过|教|研究|负责|从事|创办|创业|跳槽|离职|辞职|升职|转行|开发|自学)|我.{0,8}，正?在学`,
			unless: `我学会了?$|我读(?:了|过)?(?:这|那|一)|我教你|学不|我研究(?:一下|了一下)`,
			domain: memory.Profession, kind: aFact, importance: strong,
		},
		{
			says:   `我` + zhAdverb + `(?:精通|擅长|熟悉|会说|会讲|会写|会用)`,
			unless: `不太?会|不熟`,
			domain: memory.Profession, kind: aSkill, importance: 0.75,
		},

		// People and pets.
		{
			says: `我(?:的|家|们家)?(?:有)?[^，,。]{0,8}?` + zhKin +
				`[^，,。]{0,6}?(?:叫|是|在|有|喜欢|今年|住|生|去世|对|名字|怀孕|结婚|属|爱|也|岁|养|当|做|教|刚|不)`,
			domain: memory.Social, kind: aFact, importance: strong,
		},
		{
			says:   `我(?:们)?(?:家)?` + zhAdverb + `(?:有|养了?|领养了?|收养了?)[^，,。]{0,8}?` + zhKin,
			unless: `有没有`,
			domain: memory.Social, kind: aFact, importance: strong,
		},
		{says: `我(?:们)?` + zhAdverb + `(?:结婚|离婚|单身|订婚|怀孕|恋爱|有对象|分手)`, domain: memory.Social, kind: aFact, importance: 0.85},

		// Home, health and habits.
		{
			says: `我(?:们)?(?:家)?` + zhAdverb + `(?:住|定居|搬到|搬去|搬家|租房|租了|来自)|我家在|我的?(?:老家|家乡|故乡)|我(?:们)?` + zhAdverb +
				`在.{2,8}(?:生活|长大|定居|租房|买了?房|出生)|我` + zhAdverb + `是.{2,6}人(?:[，,。！]|$)`,
			unless: `我住(?:手|口)|是(?:个|一个|什么|好|坏|男|女).{0,4}人|是.{0,4}(?:的人|本人|主人|客人|工人)`,
			domain: memory.Lifestyle, kind: aFact, importance: 0.85,
		},
		{
			says: `我` + zhAdverb +
				`(?:有|得了?|患有?|被诊断|确诊).{0,10}(?:病|症|炎|哮喘|高血压|糖尿病|失眠|偏头痛|近视|抑郁)|我.{0,10}(?:失眠|头痛|腰疼|` +
				`胃疼).{0,4}(?:年|个月)`,
			domain: memory.Lifestyle, kind: aFact, importance: 0.85,
		},
		{
			says:   `我` + zhAdverb + `(?:每[天周月年晚早]|每个?(?:周末|星期|月|周)|经常|常常|常|天天|周末都?|坚持|习惯了?).{0,4}\p{Han}{2,}`,
			domain: memory.Lifestyle, kind: memory.Type("pattern"), importance: 0.75,
		},
		{
			says: `我` + zhAdverb +
				`(?:会|在学|学了|玩|打|踢|弹|练).{0,4}(?:吉他|钢琴|小提琴|尤克里里|古筝|羽毛球|网球|篮球|足球|乒乓球|瑜伽|太极|游泳|滑雪|围棋|象棋|` + `书法|摄影|架子鼓)`,
			domain: memory.Lifestyle, kind: aSkill, importance: 0.75,
		},
		{
			says:   `我` + zhAdverb + `(?:买了?|有|开|拥有).{0,8}(?:车|房|房子|公寓|相机|钢琴|吉他|特斯拉|自行车)`,
			domain: memory.Lifestyle, kind: aFact, importance: firm,
		},

		// Plans and decisions.
		{
			says: `(?:我|咱).*` + zhDate + `.*` + zhIntent + `|(?:我|咱).*` + zhIntent + `.*` + zhDate + `|` + zhDate +
				`[^，,。]{0,6}(?:我|咱).*` + zhIntent,
			unless: `下雨|天气|上周|上个?(?:星期|月)|昨天|去年`,
			domain: memory.Tasks, kind: aTask, importance: 0.85,
		},
		{
			says:   `(?:我|咱)们?` + zhAdverb + `(?:正在?|在)?(?:打算|计划|准备|立志)|我的?(?:目标|计划|梦想|愿望)(?:是|：)`,
			unless: `准备好了`,
			domain: memory.Tasks, kind: aTask, importance: 0.75,
		},
		{says: `提醒我`, domain: memory.Tasks, kind: aTask, importance: strong},
		{
			says:   `(?:我|咱)们?(?:最后|最终)?` + zhAdverb + `(?:决定|选定|选择了?|下定决心|拿定主意|放弃了|改用|换成|报名了?|戒了?[烟酒糖])`,
			domain: memory.Tasks, kind: aDecision, importance: strong,
		},

		// Anything else that the user says of themselves.
		{says: `我.{4,}`, domain: memory.GeneralChat, kind: aRemark, importance: weak},
	},
})
