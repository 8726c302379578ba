use super::*;

#[test]
fn names_of_common_tools_are_recognised() {
    use {Digit::*, Side::*};
    let cases = [
        ("Hips", Role::Hips),
        ("mixamorig:LeftUpLeg", Role::Thigh(Left)),
        ("mixamorig:RightForeArm", Role::Forearm(Right)),
        ("mixamorig:LeftHandIndex1", Role::Finger(Left, Index)),
        ("upper_arm.L", Role::UpperArm(Left)),
        ("DEF-forearm.R", Role::Forearm(Right)),
        ("f_index.01.L", Role::Finger(Left, Index)),
        ("J_Bip_L_UpperArm", Role::UpperArm(Left)),
        ("J_Bip_C_UpperChest", Role::Spine),
        ("J_Bip_R_LowerLeg", Role::Shin(Right)),
        ("Bip01 L Thigh", Role::Thigh(Left)),
        ("Bip001 R Calf", Role::Shin(Right)),
        ("spine_03", Role::Spine),
        ("clavicle_l", Role::Clavicle(Left)),
        ("ball_r", Role::Toe(Right)),
        ("LeftToeBase", Role::Toe(Left)),
        ("RightForeFoot", Role::Toe(Right)),
        ("finger1-1.L", Role::Finger(Left, Thumb)),
        ("finger5-3.R", Role::Finger(Right, Little)),
        ("LThumb", Role::Finger(Left, Thumb)),
        ("lhand", Role::Hand(Left)),
        ("RFingers", Role::Finger(Right, All)),
        ("LeftFingerBase", Role::Finger(Left, All)),
        ("LeftInHandMiddle", Role::Finger(Left, Middle)),
        ("lShldr", Role::UpperArm(Left)),
        ("Skeleton_arm_joint_L__4_", Role::UpperArm(Left)),
        ("leg_joint_R_2", Role::Shin(Right)),
        ("UpperLegL", Role::Thigh(Left)),
        ("lowerneck", Role::Neck),
        ("CC_Base_L_Foot", Role::Foot(Left)),
        ("little.2.R", Role::Finger(Right, Little)),
    ];
    for (name, role) in cases {
        assert_eq!(
            role_of_name(name).map(|named| named.role),
            Some(role),
            "{name}"
        );
    }
    for name in [
        "LHipJoint",
        "Head_end",
        "head_leaf",
        "upperarm_twist_01_l",
        "J_Sec_L_Bust1",
        "kneeIK.l",
        "handslot.r",
        "root",
        "",
        "§",
        "Eye.L",
    ] {
        assert_eq!(role_of_name(name), None, "{name}");
    }
}

#[test]
fn ids_round_trip() {
    for role in Role::all() {
        assert_eq!(Role::from_id(&role.id()), Some(role));
    }
}
