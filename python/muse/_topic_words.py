"""The readable vocabulary of `muse.datasets.make_ambiguous_corpus`: topics, words of several topics, function words.

A topic's words are its own: no word stands under two topics, and no ambiguous word stands under any, so that the sense
of every occurrence is known. tests/whole/test_datasets.py holds this file to that.
"""

from __future__ import annotations

_TOPIC_TEXT = {
    "river": """water stream shore flood valley bridge canoe upstream downstream delta mud reed ferry fishing rapids
        lake dam canal meadow waterfall tributary estuary swimming willow bend shallow ford paddle irrigation marsh
        otter rainfall basin creek muddy flowing""",
    "finance": """money loan interest credit deposit account investor stock market debt fund currency dollar payment
        mortgage profit savings lender budget tax price dividend broker inflation asset cash trader bond insurance
        wealth lending bankrupt economy shareholder audit invest""",
    "music": """song band guitar album concert singer melody drum piano orchestra rhythm jazz violin choir tune lyrics
        chorus composer symphony opera chord harmony trumpet flute blues punk recording musician ballad cello tempo
        soprano acoustic sonata quartet anthem""",
    "geology": """granite limestone mineral crust volcano lava sediment fossil erosion quartz basalt sandstone
        earthquake glacier plateau layer canyon cliff boulder gravel magma marble tectonic strata cave ridge crystal
        slate ore eruption terrain geologist shale clay outcrop mantle""",
    "weather": """winter summer autumn rain snow wind storm cloud sunshine temperature frost thunder breeze forecast
        climate warm humid fog hail drizzle cold heat april october blizzard sunny rainy season drought lightning thaw
        icy cloudy gale mild chilly""",
    "mechanics": """engine gear steel wheel piston valve lever screw axle brake clutch motor lubricant torque machine
        tighten wrench coil suspension vehicle shaft cylinder pump bearing hydraulic tractor repair welding rust hinge
        pulley mechanic chassis throttle gasket workshop""",
    "prison": """prisoner guard inmate jail sentenced escape warden convict solitary parole cage locked barred yard
        handcuffs dungeon captive release custody penitentiary felon shackles confined behave chained visitor gang
        smuggled riot probation detained corridor wardens jailer bunk hunger""",
    "biology": """protein membrane tissue gene nucleus enzyme organism bacteria molecule chromosome species evolution
        mutation embryo hormone bacterial microscope dna division antibody genome immune stem receptor mitochondria
        metabolism cellular laboratory mammal yeast plasma infection biologist photosynthesis amino fungus""",
    "telephone": """phone caller dial wireless signal mobile subscriber network antenna voicemail roaming handset
        texting operator coverage tower ringtone landline contacts voice dialled receiver smartphone messaging carrier
        provider broadband prepaid hotline answering speaker texted talkative calling handsfree conversation""",
    "sport": """team player goal league coach tournament football tennis championship fixture striker referee stadium
        scored winner victory cricket defeat cup ball goalkeeper halftime penalty opponent athlete batting wicket
        midfield basketball medal final umpire racket squad kick draw""",
    "fire": """flame smoke burn ash candle torch matchbox lighter ignite spark ember fireplace blaze kindling firewood
        burning sulphur cigarette extinguish stove chimney campfire fuel flammable lantern lit scorch tobacco charcoal
        firefighter arson inferno fumes burnt hearth wick""",
    "fruit": """pear orchard plum peach cherry grape lemon banana ripe juice harvest peel mango apricot strawberry
        sweet melon citrus cider fig basket raspberry berries juicy picking crop pineapple tangerine vineyard blossom
        papaya quince pulp seedless nectarine coconut""",
    "computing": """software computer program laptop code compiler server processor website keyboard developer
        internet database algorithm browser hardware microsoft linux desktop user interface download encryption memory
        python programming file click screen password install bug silicon digital pixel cursor""",
    "theatre": """actor audience drama scene script rehearsal director comedy tragedy curtain costume playwright
        applause performance actress shakespeare theatre spotlight matinee dialogue monologue backstage plot premiere
        ballet role puppet usher musical hamlet troupe auditorium critic broadway film cinema""",
    "anatomy": """neck shoulder arm leg skull brain heart muscle bone skin stomach lung liver knee elbow wrist finger
        spine throat eye nose ear blood artery kidney hair ankle thumb jaw rib pelvis chest limb forehead chin torso""",
    "politics": """government president minister election parliament vote senator policy democracy campaign senate
        congress candidate republic treaty mayor governor conservative liberal ambassador coalition ballot reform
        prime diplomat voter legislation chancellor politician electoral constitution opposition socialist debate
        referendum crown""",
    "cooking": """recipe flour sugar butter oven bread soup sauce garlic onion pepper boil roast coffee tea espresso
        brewed cream saucepan kitchen chef dish bake salt fry cheese pasta simmer cake dough spice rice chicken
        cinnamon vanilla breakfast""",
    "sea": """ship sailor boat ocean captain sail wave anchor vessel harbour cargo crew coast tide island beach dock
        voyage navy submarine lighthouse fleet pirate fisherman cruise mast hull yacht shipwreck reef rudder whale
        naval lagoon coral seaweed""",
    "electricity": """voltage circuit wire battery electron generator transformer resistor magnetic electric amplifier
        volt socket copper conductor insulation electrical grid ampere switch transistor cable magnet wiring capacitor
        turbine outlet electrician alternating watt semiconductor lamp wattage diode solenoid dynamo""",
    "clothing": """shirt jacket trousers dress fabric cotton silk tailor sleeve collar wool hat shoes button coat
        leather scarf skirt sewing knitted wardrobe fashion stitched velvet gloves linen belt denim pocket blouse
        embroidered sandals uniform thread wore seam""",
    "war": """army soldier battle enemy troops weapon bomb general rifle cannon regiment siege commander bullet
        infantry artillery trench cavalry gun attack ammunition invasion colonel fortress missile grenade military
        armoured surrender warfare combat brigade sergeant sword retreat allied""",
    "animals": """dog cat bird horse wolf fox bear rabbit lion tiger elephant monkey fish feather wings nest owl
        squirrel deer snake paw fur hunting zoo goat sheep puppy kitten eagle habitat penguin frog salmon burrow
        predator herd""",
    "law": """judge lawyer jury trial attorney lawsuit verdict defendant plaintiff testimony crime guilty evidence
        legal statute appeal justice contract criminal prosecutor hearing witness innocent tribunal counsel litigation
        damages clause barrister felony magistrate liability perjury notary solicitor affidavit""",
    "building": """house wall roof brick concrete door window construction carpenter architect floor timber foundation
        ceiling hammer cement scaffold plaster staircase lock apartment beam skyscraper drill hallway plywood balcony
        tile contractor crooked masonry shelf drawer attic basement ladder""",
    "forest": """tree leaf branch root oak pine wood garden flower grass moss bush fern maple birch seed leaves shrub
        woodland canopy soil sapling hiking tulip lily greenhouse botanist cedar evergreen acorn thicket pollen rose
        orchid gardener rainforest""",
    "astronomy": """planet sun moon telescope galaxy orbit solar venus jupiter comet asteroid universe nebula
        astronomer saturn eclipse lunar satellite spacecraft cosmic meteor constellation observatory mars stellar
        supernova gravity rocket astronaut nasa hubble neptune starlight crater milky uranus""",
}

TOPICS: dict[str, tuple[str, ...]] = {topic: tuple(text.split()) for topic, text in _TOPIC_TEXT.items()}

# Word -> the topics that it belongs to, the ones that come to mind first in front.
AMBIGUOUS: dict[str, tuple[str, ...]] = {
    word: tuple(topics.split())
    for word, topics in {
        "bank": "finance river",
        "rock": "music geology",
        "cell": "biology prison telephone",
        "spring": "weather mechanics river",
        "match": "sport fire",
        "current": "electricity river politics",
        "apple": "fruit computing",
        "head": "anatomy politics",
        "tie": "clothing sport",
        "java": "computing cooking",
        "bat": "animals sport",
        "court": "law sport",
        "organ": "anatomy music",
        "crane": "building animals",
        "mouse": "computing animals",
        "star": "astronomy theatre",
        "seal": "animals law mechanics",
        "bass": "music animals",
        "bark": "forest animals sea",
        "pitch": "sport music",
        "virus": "biology computing",
        "port": "sea computing",
        "suit": "clothing law",
        "charge": "electricity law war",
        "bolt": "mechanics weather",
        "mercury": "astronomy geology",
        "shell": "war sea computing",
        "palm": "forest anatomy",
        "tank": "war mechanics",
        "play": "theatre sport music",
        "note": "music finance",
        "trunk": "forest animals",
        "nail": "anatomy building",
        "draft": "war law weather",
        "log": "fire computing",
        "party": "politics law",
        "date": "fruit law",
        "deck": "sea building",
        "scale": "music animals",
        "iris": "forest anatomy",
    }.items()
}

FUNCTION_WORDS: tuple[str, ...] = tuple(
    """the of and to in a is that for it was as with on be by at this from are or his an they which but not have had
    their he she we you were has been one all there would when who will more no if out so said what up its about into
    than them can only other new some could time these two may then do first any my now such like our over me even most
    made after also did many before must through back years where much your way well down should because each just those
    how too good very make still see own work long get here between both under never same another know while last might
    us great old off come since against go came right used take three""".split()
)
