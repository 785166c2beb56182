"""The vocabulary of the generated text: plain word lists in which every letter of the alphabet is frequent."""

WARM = "red orange yellow pink".split()
COOL = "blue green teal purple".split()
NEUTRAL = "black white gray brown".split()
COLOURS = WARM + COOL + NEUTRAL

ANIMALS = """
cat dog horse fox zebra lion tiger bear wolf rabbit mouse owl crow eagle duck goose hen pig cow sheep goat camel
whale shark crab frog toad snake lizard turtle bee ant moth spider otter beaver deer moose squirrel hedgehog penguin
parrot jaguar lynx yak quail robin swan donkey monkey
""".split()

FOODS = """
bread cheese soup rice pasta salad cake pie honey jam apple pear plum peach cherry grape melon lemon mango fig onion
carrot potato bean corn mushroom pepper tomato pizza noodle waffle pancake cookie yogurt butter egg fish pudding
chocolate walnut omelette quince zucchini juice tea coffee
""".split()

THINGS = """
hat coat scarf shirt shoe car bike boat kite balloon umbrella house door chair table lamp book pencil cup plate bag
box clock phone guitar piano drum violin basket blanket pillow window mirror ladder hammer wagon jacket sweater
ribbon candle bottle letter map key ring coin stamp toy puzzle jigsaw axe vase quilt bucket
""".split()

PLACES = """
garden forest river lake sea mountain valley village city market kitchen school library museum station bridge park
island desert beach farm castle harbour theatre bakery cave meadow field road tower cellar attic zoo square orchard
jungle hotel office workshop
""".split()

PEOPLE = """
mother father sister brother aunt uncle cousin friend neighbour teacher doctor farmer baker sailor painter writer
singer nurse pilot judge king queen wizard boy girl old_man old_woman child driver gardener captain
""".split()

NAMES = """
Anna Ben Clara David Ella Frank Grace Henry Iris Jack Kate Leo Maya Noah Olga Paul Quinn Rosa Sam Tina Uma Victor
Wendy Xavier Yara Zoe
""".split()

SUBJECTS = """
rivers trees stars music books trains ships bridges winter summer autumn spring rain snow storms mountains dreams
friends family school work sleep games sports cooking gardens cities villages history numbers letters maps clocks
birds fish horses dogs cats bees flowers stones castles kings science space planets the_moon the_sun the_sea
the_wind fire ice light shadows colours shapes time travel holidays money paper glass wood iron tea coffee bread
cheese fruit dancing painting jazz poetry silence laughter courage luck kindness memory
""".split()

ADJECTIVES = """
big small old new young quiet loud soft hard warm cold bright dark slow quick happy sad kind brave clever lazy busy
calm wild gentle strange simple heavy light sweet sour fresh dry wet deep high low long short wide narrow thick thin
smooth rough sharp clean empty full rich poor funny serious honest proud shy curious careful golden silver wooden
tiny huge lovely ugly famous secret lucky odd dizzy fuzzy quaint vivid jolly zesty exact
""".split()

PAST = """
watched found painted carried followed opened closed crossed visited remembered forgot washed fixed built broke lost
kept sold bought drew touched pushed pulled lifted dropped hid showed heard noticed loved feared chased cleaned
counted covered filled moved needed praised saved shook studied tasted warmed jumped_over walked_past looked_at
sat_beside slept_near ran_around sang_about laughed_at dreamed_of waited_for talked_about froze quizzed squeezed
juggled examined explored
""".split()

PRESENT = """
like love enjoy prefer admire remember miss need want collect draw paint watch study explore imagine respect
understand trust follow
""".split()

ADVERBS = """
slowly quickly quietly happily gently often always sometimes never again today yesterday early late together alone
at_night in_the_morning after_lunch before_dawn every_day once_a_week in_silence with_care without_hurry for_an_hour
on_Sunday in_July in_the_rain by_chance
""".split()

WEATHER = """
sunny rainy windy cloudy foggy snowy stormy warm cold mild icy hot humid freezing calm gray hazy breezy
""".split()

FEELINGS = "fine good great tired happy well calm cheerful sleepy excited hungry curious lucky okay".split()

SYSTEM_PROMPTS = [
    "You are a helpful assistant.",
    "You are a friendly assistant.",
    "You are a small chat model.",
    "Be kind and brief.",
    "Answer in one sentence.",
    "You are a poet who loves simple words.",
    "Help the user as well as you can.",
    "You are a guide in an old museum.",
]


def spell(word: str) -> str:
    """Splits a list at spaces. An underscore is a space within an item."""
    return word.replace("_", " ")
